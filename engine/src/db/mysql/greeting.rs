//! The introductions of server and client.
//!
//! In: the first packet of the server, and the login. Out: the server's capabilities; the client's
//! answer. Called by `login`.

use super::fields::MySqlFields;
use super::password::PasswordMethod;
use super::prepared::write_length;
use crate::db::error::{DbError, DbResult};

/// The capabilities of a side, with the names of the protocol.
pub mod can {
    pub const LONG_PASSWORD: u32 = 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const LOCAL_FILES: u32 = 1 << 7;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const SSL: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    pub const DEPRECATE_EOF: u32 = 1 << 24;

    /// Required capabilities; every server of the last 15 years has them.
    pub const NEEDED: u32 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH;
    pub const WANTED: u32 = NEEDED
        | LONG_PASSWORD
        | LONG_FLAG
        | LOCAL_FILES
        | TRANSACTIONS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH_LENENC
        | DEPRECATE_EOF;
}

/// utf8mb4_general_ci, which every server knows.
const CHARACTERS: u8 = 45;

/// The longest packet that the client accepts, summed over its parts.
const LONGEST: u32 = 1 << 30;

#[derive(Debug, PartialEq, Eq)]
pub struct Greeting {
    pub can: u32,
    pub nonce: Vec<u8>,
    pub method: Vec<u8>,
}

impl Greeting {
    pub fn read(packet: &[u8]) -> DbResult<Greeting> {
        let mut fields = MySqlFields(packet);
        let version = fields.u8()?;
        if version != 10 {
            return Err(DbError::protocol(format!(
                "the server speaks version {version} of the protocol, not 10"
            )));
        }
        fields.until_zero();
        fields.u32()?;
        let mut nonce = fields.take(8)?.to_vec();
        fields.u8()?;
        let low = fields.u16()?;
        fields.take(3)?;
        let can = u32::from(low) | u32::from(fields.u16()?) << 16;
        if can & can::NEEDED != can::NEEDED {
            return Err(DbError::protocol("the server is older than MySQL 5.5"));
        }
        let length = usize::from(fields.u8()?);
        fields.take(10)?;
        nonce.extend_from_slice(fields.take(length.saturating_sub(8).max(13))?);
        Ok(Greeting {
            can,
            nonce,
            method: fields.until_zero().to_vec(),
        })
    }
}

/// The beginning of the client's answer; sent alone, it requests TLS.
pub fn begin(can: u32) -> Vec<u8> {
    let mut answer = Vec::with_capacity(128);
    answer.extend_from_slice(&can.to_le_bytes());
    answer.extend_from_slice(&LONGEST.to_le_bytes());
    answer.push(CHARACTERS);
    answer.extend_from_slice(&[0; 23]);
    answer
}

/// The client's answer: the login, and the proof of the password.
pub fn introduce(
    can: u32,
    user: &str,
    database: &str,
    method: PasswordMethod,
    proof: &[u8],
) -> Vec<u8> {
    let mut answer = begin(can);
    answer.extend_from_slice(user.as_bytes());
    answer.push(0);
    write_length(proof.len(), &mut answer);
    answer.extend_from_slice(proof);
    if can & can::CONNECT_WITH_DB != 0 {
        answer.extend_from_slice(database.as_bytes());
        answer.push(0);
    }
    answer.extend_from_slice(method.name().as_bytes());
    answer.push(0);
    answer
}
