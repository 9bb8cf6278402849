//! The second step of MariaDB's method `parsec`: a key derived from the password signs random bytes
//! of both sides.
//!
//! In: the server's salt and random bytes, the password. Out: the bytes of the proof. Called by
//! `login`.

use std::num::NonZeroU32;

use ring::pbkdf2::{self, PBKDF2_HMAC_SHA512};
use ring::rand::{SecureRandom, SystemRandom};

use super::password;
use crate::db::error::{DbError, DbResult};

/// The sign of PBKDF2, which begins the server's packet.
pub const SALT: u8 = b'P';
/// Iterations where the server's factor is 0; each step of it doubles them.
const FEWEST_ITERATIONS: NonZeroU32 = NonZeroU32::new(1024).unwrap();
const MOST_FACTOR: u8 = 3;
const SALT_BYTES: usize = 18;
/// Random bytes of each side.
const NONCE: usize = 32;

/// The random bytes of this side and the signature, for a salt without its sign.
pub fn prove(salt: &[u8], password: &str, nonce: &[u8]) -> DbResult<Vec<u8>> {
    let mut client_nonce = [0; NONCE];
    SystemRandom::new()
        .fill(&mut client_nonce)
        .map_err(|_| DbError::protocol("the system has no random numbers"))?;
    let signed = [password::start(nonce, NONCE)?, &client_nonce[..]].concat();
    let signature = password::sign(&key(salt, password)?, &signed);
    Ok([&client_nonce[..], &signature].concat())
}

/// The private key of Ed25519 for this password.
fn key(salt: &[u8], password: &str) -> DbResult<[u8; 32]> {
    let undefined =
        || DbError::protocol("the server sends a salt that the method parsec does not define");
    let (factor, salt) = salt.split_first().ok_or_else(undefined)?;
    if *factor > MOST_FACTOR || salt.len() != SALT_BYTES {
        return Err(undefined());
    }
    let iterations = (0..*factor).fold(FEWEST_ITERATIONS, |n, _| n.saturating_add(n.get()));
    let mut key = [0; 32];
    pbkdf2::derive(
        PBKDF2_HMAC_SHA512,
        iterations,
        salt,
        password.as_bytes(),
        &mut key,
    );
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same value as Python's `hashlib.pbkdf2_hmac` computes.
    #[test]
    fn keys_are_those_of_another_program() {
        let salt = [&[1][..], b"eighteen bytes, so"].concat();
        let hex: String = key(&salt, "secret")
            .unwrap()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "7ac6fabf662cc2d98dd3433544a280ebabdc4e90c203b83a6efe89604fe4576e"
        );
    }

    #[test]
    fn each_proof_has_new_random_bytes() {
        let salt = [&[0][..], &[7; 18]].concat();
        let proofs = [1, 2].map(|_| prove(&salt, "secret", &[3; 32]).unwrap());
        assert_eq!(proofs[0].len(), 96);
        assert_ne!(proofs[0], proofs[1]);
    }

    #[test]
    fn unknown_salts_and_short_random_bytes_are_errors() {
        for salt in [&b""[..], &[4; 19], &[0; 18], &[0; 20]] {
            assert!(prove(salt, "secret", &[3; 32]).is_err());
        }
        assert!(prove(&[0; 19], "secret", &[3; 31]).is_err());
    }
}
