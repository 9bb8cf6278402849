//! Logging in: from the server's greeting to its acceptance.
//!
//! In: packets of the server. Out: the bytes to send, without I/O, so that every course can be
//! tested without a server. Driven by `Connection::open`.

use super::caching_sha2::CachingSha2;
use super::ending::{self, Status};
use super::fields::MySqlFields;
use super::greeting::{self, Greeting, can};
use super::parsec;
use super::password::PasswordMethod;
use super::refusal;
use crate::db::error::{DbError, DbErrorKind, DbResult};
use crate::db::server::{Server, Tls};

const CONSENT: u8 = 0;
const MORE: u8 = 1;
const OTHER_METHOD: u8 = 0xfe;

#[derive(Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Wait for another packet of the server.
    Listen,
    Send(Vec<u8>),
    /// Send this, then encrypt, then continue with `Login::introduce`.
    Encrypt(Vec<u8>),
    /// Logged in, with the server's status.
    In(Status),
}

pub struct MySqlLogin<'a> {
    server: &'a Server,
    /// The capabilities of both sides.
    can: u32,
    method: PasswordMethod,
    nonce: Vec<u8>,
    greeted: bool,
    salted: bool,
    caching: CachingSha2,
}

impl<'a> MySqlLogin<'a> {
    pub fn new(server: &'a Server) -> MySqlLogin<'a> {
        MySqlLogin {
            server,
            can: 0,
            method: PasswordMethod::Native,
            nonce: Vec::new(),
            greeted: false,
            salted: false,
            caching: CachingSha2::default(),
        }
    }

    /// Whether the server omits the end packets that `Answer` and `rows` do not need.
    pub fn short_ends(&self) -> bool {
        self.can & can::DEPRECATE_EOF != 0
    }

    /// The next step after this packet; `private` states that nobody else can read the connection.
    pub fn take(&mut self, packet: &[u8], private: bool) -> DbResult<LoginStep> {
        let mut fields = MySqlFields(packet);
        match (self.greeted, fields.u8()?) {
            (_, refusal::SIGN) => Err(refusal::read(fields.0)),
            (false, _) => self.greet(packet, private),
            (true, CONSENT) => ending::changed(fields.0).map(|(_, status)| LoginStep::In(status)),
            (true, OTHER_METHOD) => {
                self.choose(fields.until_zero())?;
                self.nonce = fields.0.to_vec();
                self.prove(private).map(LoginStep::Send)
            }
            (true, MORE) => self.continue_method(fields.0, private),
            (true, parsec::SALT) if self.method == PasswordMethod::Parsec => {
                self.continue_method(packet, private)
            }
            (true, other) => Err(DbError::protocol(format!(
                "the server begins a packet with {other:#04x} during the login"
            ))),
        }
    }

    fn greet(&mut self, packet: &[u8], private: bool) -> DbResult<LoginStep> {
        let greeting = Greeting::read(packet)?;
        self.greeted = true;
        self.can = can::WANTED & greeting.can;
        if !self.server.database.is_empty() {
            self.can |= can::CONNECT_WITH_DB;
        }
        self.nonce = greeting.nonce;
        // An unknown default method may not be that of this user; the server then asks for another
        // one.
        self.method = PasswordMethod::named(&greeting.method).unwrap_or(PasswordMethod::Native);
        if self.server.tls == Tls::Off {
            return self.introduce(private).map(LoginStep::Send);
        }
        if greeting.can & can::SSL == 0 {
            return Err(DbError::protocol("the server does not offer TLS"));
        }
        self.can |= can::SSL;
        Ok(LoginStep::Encrypt(greeting::begin(self.can)))
    }

    /// The answer to the greeting.
    pub fn introduce(&self, private: bool) -> DbResult<Vec<u8>> {
        let Server { user, database, .. } = self.server;
        let proof = self.prove(private)?;
        let response = greeting::introduce(self.can, user, database, self.method, &proof);
        Ok(response)
    }

    fn choose(&mut self, name: &[u8]) -> DbResult<()> {
        self.method = PasswordMethod::named(name).ok_or_else(|| {
            let name = match name {
                b"" => "mysql_old_password".into(),
                name => String::from_utf8_lossy(name),
            };
            let message = format!(
                "the server requires the authentication method {name}, which is not supported"
            );
            DbError::new(DbErrorKind::Denied, "", message)
        })?;
        Ok(())
    }

    fn prove(&self, private: bool) -> DbResult<Vec<u8>> {
        self.method
            .prove(self.server.password(), &self.nonce, private)
    }

    fn continue_method(&mut self, server_data: &[u8], private: bool) -> DbResult<LoginStep> {
        let password = self.server.password();
        match (self.method, server_data) {
            (PasswordMethod::CachingSha2, _) => {
                let answer = self
                    .caching
                    .take(server_data, password, &self.nonce, private)?;
                Ok(answer.map_or(LoginStep::Listen, LoginStep::Send))
            }
            (PasswordMethod::Parsec, [parsec::SALT, salt @ ..]) if !self.salted => {
                self.salted = true; // each costs time
                parsec::prove(salt, password, &self.nonce).map(LoginStep::Send)
            }
            (method, _) => Err(DbError::protocol(format!(
                "the server sends data that the method {} does not define",
                method.name()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::server::Secret;

    const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

    fn server(tls: Tls) -> Server {
        Server {
            socket: None,
            host: None,
            port: None,
            user: "me".into(),
            password: Some(Secret::new("secret")),
            credential: None,
            database: "lab".into(),
            tls,
            tls_ca: None,
            timeout_s: 1.0,
            outage_s: 0.0,
        }
    }

    fn greeting(can: u32, method: &str) -> Vec<u8> {
        let [can_0, can_1, can_2, can_3] = can.to_le_bytes();
        let mut packet = b"\x0a8.0.0\0\x01\0\0\0abcdefgh\0".to_vec();
        packet.extend_from_slice(&[can_0, can_1, 45, 2, 0, can_2, can_3, 21]);
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(b"ijklmnopqrst\0");
        packet.extend_from_slice(method.as_bytes());
        packet.push(0);
        packet
    }

    fn greeted<'a>(server: &'a Server, method: &str) -> MySqlLogin<'a> {
        let mut login = MySqlLogin::new(server);
        let answer = login.take(&greeting(can::WANTED | can::SSL, method), false);
        assert!(
            matches!(answer, Ok(LoginStep::Send(_) | LoginStep::Encrypt(_))),
            "{answer:?}"
        );
        login
    }

    fn proof(method: PasswordMethod) -> Vec<u8> {
        method
            .prove("secret", b"abcdefghijklmnopqrst\0", true)
            .unwrap()
    }

    #[test]
    fn the_introduction_holds_what_was_agreed_on() {
        let server = server(Tls::Off);
        let mut login = MySqlLogin::new(&server);
        let can = can::WANTED & !can::DEPRECATE_EOF;
        let greeting = greeting(can, "mysql_native_password");
        let LoginStep::Send(response) = login.take(&greeting, false).unwrap() else {
            panic!()
        };
        assert_eq!(response[..4], (can | can::CONNECT_WITH_DB).to_le_bytes());
        assert_eq!(response[8..32], [&[45][..], &[0; 23]].concat());
        let remainder = [
            b"me\0\x14",
            &proof(PasswordMethod::Native)[..],
            b"lab\0mysql_native_password\0",
        ];
        assert_eq!(response[32..], remainder.concat());
        assert!(!login.short_ends());
        assert_eq!(login.take(OK, false), Ok(LoginStep::In(Status(2))));
    }

    #[test]
    fn nothing_but_the_request_for_tls_goes_in_clear() {
        let server = server(Tls::Required);
        let mut login = MySqlLogin::new(&server);
        let packet = greeting(can::WANTED | can::SSL, "mysql_clear_password");
        let LoginStep::Encrypt(request) = login.take(&packet, false).unwrap() else {
            panic!()
        };
        assert_eq!(request.len(), 32);
        let response = login.introduce(true).unwrap();
        assert_eq!(response[..32], request);
        let remainder = b"me\0\x07secret\0lab\0mysql_clear_password\0";
        assert_eq!(&response[32..], remainder);
        let without = MySqlLogin::new(&server).take(&greeting(can::WANTED, ""), false);
        assert!(without.unwrap_err().message.contains("does not offer TLS"));
    }

    #[test]
    fn a_hash_that_is_remembered_is_enough() {
        let server = server(Tls::Off);
        let mut login = greeted(&server, "caching_sha2_password");
        assert_eq!(login.take(&[1, 3], false), Ok(LoginStep::Listen));
        assert_eq!(login.take(OK, false), Ok(LoginStep::In(Status(2))));
    }

    #[test]
    fn else_the_password_goes_in_clear_where_nobody_reads_along_or_encrypted() {
        let server = server(Tls::Off);
        let mut login = greeted(&server, "caching_sha2_password");
        assert_eq!(
            login.take(&[1, 4], true),
            Ok(LoginStep::Send(b"secret\0".to_vec()))
        );
        let mut login = greeted(&server, "caching_sha2_password");
        assert_eq!(login.take(&[1, 4], false), Ok(LoginStep::Send(vec![2])));
        let no_key = login.take(b"\x01-----BEGIN", false).unwrap_err();
        assert!(no_key.message.contains("public key"), "{no_key}");
        assert!(
            greeted(&server, "caching_sha2_password")
                .take(b"\x01key", false)
                .is_err()
        );
    }

    #[test]
    fn the_server_may_want_another_method() {
        let server = server(Tls::Off);
        let mut login = greeted(&server, "some_method");
        let native = b"\xfemysql_native_password\0abcdefghijklmnopqrst\0";
        assert_eq!(
            login.take(native, false),
            Ok(LoginStep::Send(proof(PasswordMethod::Native)))
        );
        assert_eq!(
            login.take(b"\xfeauth_socket\0", false),
            Ok(LoginStep::Send(Vec::new()))
        );
        let signed = [&b"\xfeclient_ed25519\0"[..], &[0; 32]].concat();
        assert!(
            matches!(login.take(&signed, false), Ok(LoginStep::Send(proof)) if proof.len() == 64)
        );
        for (packet, named) in [
            (&b"\xfemysql_clear_password\0"[..], "in clear"),
            (b"\xfe", "mysql_old_password"),
            (b"\xfedialog\0", "dialog"),
            (b"\xff\x15\x04#28000Access denied", "1045"),
        ] {
            let error = login.take(packet, false).unwrap_err();
            assert_eq!(error.kind, DbErrorKind::Denied);
            assert!(error.to_string().contains(named), "{error}");
        }
    }

    #[test]
    fn a_salt_is_asked_for_and_answered() {
        let server = server(Tls::Off);
        let mut login = greeted(&server, "mysql_native_password");
        let change = [&b"\xfeparsec\0"[..], &[9; 32]].concat();
        let request = LoginStep::Send(Vec::new());
        assert_eq!(login.take(&change, false), Ok(request));
        let salt = b"P\0eighteen bytes, so";
        let answer = login.take(salt, false);
        assert!(matches!(answer, Ok(LoginStep::Send(proof)) if proof.len() == 96));
        assert!(login.take(salt, false).is_err(), "a second salt");
        let mut login = greeted(&server, "parsec");
        assert!(login.take(b"\x01?", false).is_err());
        let answer = login.take(&[&[1][..], salt].concat(), false);
        assert!(answer.is_err(), "without random bytes of its length");
    }

    #[test]
    fn what_cannot_be_a_server_is_not_talked_to() {
        let server = server(Tls::Off);
        let whole = greeting(can::WANTED, "");
        for packet in [
            &b""[..],
            b"\x09old",
            b"SSH-2.0-OpenSSH",
            &greeting(0, ""),
            &whole[..50],
        ] {
            let error = MySqlLogin::new(&server).take(packet, false).unwrap_err();
            assert_eq!(error.kind, DbErrorKind::Protocol, "{error}");
        }
        let full = MySqlLogin::new(&server).take(b"\xff\x10\x04Too many connections", false);
        assert_eq!(full.unwrap_err().kind, DbErrorKind::TooMany);
    }
}
