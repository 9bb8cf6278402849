//! Getting in: from the server's greeting to its consent.
//!
//! In: packets of the server. Out: what to answer; bytes only, so that every course can be tried without
//! a server. Driven by `Connection::open`.

use super::ending::{self, Status};
use super::fields::Fields;
use super::greeting::{self, Greeting, can};
use super::password::{self, Method};
use super::refusal;
use crate::db::error::{DbError, Kind, Result};
use crate::db::server::{Server, Tls};

const CONSENT: u8 = 0;
const MORE: u8 = 1;
const OTHER_METHOD: u8 = 0xfe;

/// Of caching_sha2_password: the server remembers the password's hash; it does not.
const REMEMBERED: u8 = 3;
const NOT_REMEMBERED: u8 = 4;
const PUBLIC_KEY_PLEASE: u8 = 2;

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The server will say more.
    Listen,
    Send(Vec<u8>),
    /// Send this, then encrypt, then go on with `Login::introduce`.
    Encrypt(Vec<u8>),
    /// In, with the server's status.
    In(Status),
}

pub struct Login<'a> {
    server: &'a Server,
    /// Both sides can.
    can: u32,
    method: Method,
    nonce: Vec<u8>,
    greeted: bool,
    key_asked: bool,
}

impl<'a> Login<'a> {
    pub fn new(server: &'a Server) -> Login<'a> {
        Login {
            server,
            can: 0,
            method: Method::Native,
            nonce: Vec::new(),
            greeted: false,
            key_asked: false,
        }
    }

    /// Whether the server leaves out what `Answer` and `rows` can do without.
    pub fn short_ends(&self) -> bool {
        self.can & can::DEPRECATE_EOF != 0
    }

    /// What to do after this packet; `private` says whether nobody on the way can read the answer.
    pub fn take(&mut self, packet: &[u8], private: bool) -> Result<Step> {
        let mut fields = Fields(packet);
        match (self.greeted, fields.u8()?) {
            (_, refusal::SIGN) => Err(refusal::read(fields.0)),
            (false, _) => self.greet(packet, private),
            (true, CONSENT) => ending::changed(fields.0).map(|(_, status)| Step::In(status)),
            (true, OTHER_METHOD) => {
                self.choose(fields.until_zero())?;
                self.nonce = fields.0.to_vec();
                self.prove(private).map(Step::Send)
            }
            (true, MORE) => self.more(fields.0, private),
            (true, other) => Err(DbError::protocol(format!(
                "the server begins a packet with {other:#04x} before it lets in"
            ))),
        }
    }

    fn greet(&mut self, packet: &[u8], private: bool) -> Result<Step> {
        let greeting = Greeting::read(packet)?;
        self.greeted = true;
        self.can = can::WANTED & greeting.can;
        if !self.server.database.is_empty() {
            self.can |= can::CONNECT_WITH_DB;
        }
        self.nonce = greeting.nonce;
        // A method that is not known here may not be that of this user: the server will say.
        self.method = Method::named(&greeting.method).unwrap_or(Method::Native);
        if self.server.tls == Tls::Off {
            return self.introduce(private).map(Step::Send);
        }
        if greeting.can & can::SSL == 0 {
            return Err(DbError::protocol("the server does not offer TLS"));
        }
        self.can |= can::SSL;
        Ok(Step::Encrypt(greeting::begin(self.can)))
    }

    /// The answer to the greeting.
    pub fn introduce(&self, private: bool) -> Result<Vec<u8>> {
        let Server { user, database, .. } = self.server;
        let proof = self.prove(private)?;
        let told = greeting::introduce(self.can, user, database, self.method, &proof);
        Ok(told)
    }

    fn choose(&mut self, name: &[u8]) -> Result<()> {
        self.method = Method::named(name).ok_or_else(|| {
            let name = match name {
                b"" => "mysql_old_password".into(),
                name => String::from_utf8_lossy(name),
            };
            let message = format!("the server wants {name} of this user, which is not known here");
            DbError::new(Kind::Denied, "", message)
        })?;
        Ok(())
    }

    fn prove(&self, private: bool) -> Result<Vec<u8>> {
        self.method
            .prove(self.server.password(), &self.nonce, private)
    }

    fn more(&mut self, said: &[u8], private: bool) -> Result<Step> {
        let password = self.server.password();
        match (self.method, said) {
            (Method::CachingSha2, [REMEMBERED]) => Ok(Step::Listen),
            (Method::CachingSha2, [NOT_REMEMBERED]) if private => {
                password::clear(password, private).map(Step::Send)
            }
            (Method::CachingSha2, [NOT_REMEMBERED]) => {
                self.key_asked = true;
                Ok(Step::Send(vec![PUBLIC_KEY_PLEASE]))
            }
            (Method::CachingSha2, key) if self.key_asked => {
                self.key_asked = false;
                password::encrypt(password, &self.nonce, key).map(Step::Send)
            }
            (method, _) => Err(DbError::protocol(format!(
                "the server says more than {} knows",
                method.name()
            ))),
        }
    }
}
