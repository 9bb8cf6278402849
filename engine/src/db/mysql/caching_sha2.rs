//! The later steps of the method `caching_sha2_password`, after the first proof.
//!
//! In: further data of the server. Out: the reply; `None` where the server continues without one.
//! Called by `login`.

use super::password;
use crate::db::error::{DbError, DbResult};

/// The server has the password's hash in its cache, or does not.
const REMEMBERED: u8 = 3;
const NOT_REMEMBERED: u8 = 4;
const PUBLIC_KEY_PLEASE: u8 = 2;

#[derive(Debug, Default)]
pub struct CachingSha2 {
    key_asked: bool,
}

impl CachingSha2 {
    /// The reply to a server step. A server without the hash wants the password: in clear on a
    /// private connection, else encrypted by its key.
    pub fn take(
        &mut self,
        server_data: &[u8],
        password: &str,
        nonce: &[u8],
        private: bool,
    ) -> DbResult<Option<Vec<u8>>> {
        match server_data {
            [REMEMBERED] => Ok(None),
            [NOT_REMEMBERED] if private => password::clear(password, private).map(Some),
            [NOT_REMEMBERED] => {
                self.key_asked = true;
                Ok(Some(vec![PUBLIC_KEY_PLEASE]))
            }
            key if self.key_asked => {
                self.key_asked = false;
                password::encrypt(password, nonce, key).map(Some)
            }
            _ => Err(DbError::protocol(
                "the server sends data that caching_sha2_password does not define",
            )),
        }
    }
}
