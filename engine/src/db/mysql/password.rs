//! Proofs of the password, by the methods of MySQL and MariaDB.
//!
//! In: a method, the password, random bytes of the server. Out: the bytes of the proof. Called by
//! `login`.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};

use super::rsa;
use crate::db::error::{DbError, DbErrorKind, DbResult};

/// The number of random bytes that the older methods use.
const NONCE: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordMethod {
    Native,
    CachingSha2,
    Ed25519,
    /// The proof follows the server's salt, which an empty answer asks for.
    Parsec,
    Clear,
    /// The server identifies the peer of the Unix socket.
    Socket,
}

impl PasswordMethod {
    pub fn named(name: &[u8]) -> Option<PasswordMethod> {
        Some(match name {
            b"mysql_native_password" => PasswordMethod::Native,
            b"caching_sha2_password" => PasswordMethod::CachingSha2,
            b"client_ed25519" => PasswordMethod::Ed25519,
            b"parsec" => PasswordMethod::Parsec,
            b"mysql_clear_password" => PasswordMethod::Clear,
            b"auth_socket" | b"unix_socket" => PasswordMethod::Socket,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            PasswordMethod::Native => "mysql_native_password",
            PasswordMethod::CachingSha2 => "caching_sha2_password",
            PasswordMethod::Ed25519 => "client_ed25519",
            PasswordMethod::Parsec => "parsec",
            PasswordMethod::Clear => "mysql_clear_password",
            PasswordMethod::Socket => "auth_socket",
        }
    }

    /// The first answer; `private` states that nobody else can read the connection.
    pub fn prove(self, password: &str, nonce: &[u8], private: bool) -> DbResult<Vec<u8>> {
        Ok(match self {
            PasswordMethod::Socket | PasswordMethod::Parsec => Vec::new(),
            PasswordMethod::Clear => clear(password, private)?,
            PasswordMethod::Ed25519 => sign(password.as_bytes(), start(nonce, 32)?).to_vec(),
            PasswordMethod::Native | PasswordMethod::CachingSha2 if password.is_empty() => {
                Vec::new()
            }
            PasswordMethod::Native => {
                let hash = |parts: &[&[u8]]| digest(&SHA1_FOR_LEGACY_USE_ONLY, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                let mask = hash(&[start(nonce, NONCE)?, twice.as_ref()]);
                exclusive_or(once.as_ref(), mask.as_ref())
            }
            PasswordMethod::CachingSha2 => {
                let hash = |parts: &[&[u8]]| digest(&SHA256, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                let mask = hash(&[twice.as_ref(), start(nonce, NONCE)?]);
                exclusive_or(once.as_ref(), mask.as_ref())
            }
        })
    }
}

/// The password itself, for a server that requires it; refused on a connection that others can
/// read.
pub fn clear(password: &str, private: bool) -> DbResult<Vec<u8>> {
    if !private {
        return Err(DbError::new(
            DbErrorKind::Denied,
            "",
            "the server requires the password in clear text, which is sent only over TLS or a Unix socket",
        ));
    }
    Ok(with_zero(password))
}

/// The password, encrypted with the public key of the server.
pub fn encrypt(password: &str, nonce: &[u8], key: &[u8]) -> DbResult<Vec<u8>> {
    let mask = start(nonce, NONCE)?.iter().cycle();
    let masked: Vec<u8> = with_zero(password)
        .iter()
        .zip(mask)
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    rsa::encrypt(key, &masked).map_err(|cause| {
        DbError::protocol(format!("the server sends no usable public key: {cause}"))
    })
}

/// Ed25519's signature, but with a secret key of any length, expanded again for each signature.
pub fn sign(password: &[u8], nonce: &[u8]) -> [u8; 64] {
    let hash = |parts: &[&[u8]]| -> [u8; 64] {
        let mut hash = [0; 64];
        hash.copy_from_slice(digest(&SHA512, &parts.concat()).as_ref());
        hash
    };
    let scalar = |parts: &[&[u8]]| Scalar::from_bytes_mod_order_wide(&hash(parts));
    let point = |factor: &Scalar| EdwardsPoint::mul_base(factor).compress().to_bytes();

    let mut key = [0; 32];
    let hashed = hash(&[password]);
    let (secret, prefix) = hashed.split_at(32);
    key.copy_from_slice(secret);
    let key = Scalar::from_bytes_mod_order(clamp_integer(key));
    let once = scalar(&[prefix, nonce]);
    let commitment = point(&once);
    let challenge = scalar(&[&commitment, &point(&key), nonce]);
    let response = (challenge * key + once).to_bytes();

    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&commitment);
    signature[32..].copy_from_slice(&response);
    signature
}

fn with_zero(password: &str) -> Vec<u8> {
    [password.as_bytes(), &[0]].concat()
}

fn exclusive_or(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left ^ right)
        .collect()
}

pub fn start(nonce: &[u8], length: usize) -> DbResult<&[u8]> {
    nonce.get(..length).ok_or_else(|| {
        DbError::protocol(format!(
            "the server sends {} random bytes where {length} are needed",
            nonce.len()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce() -> Vec<u8> {
        (1..=20).chain([0]).collect()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The same values as Python's hashlib computes.
    #[test]
    fn hashes_are_those_of_another_program() {
        let proof = |method: PasswordMethod| hex(&method.prove("secret", &nonce(), false).unwrap());
        assert_eq!(
            proof(PasswordMethod::Native),
            "b32bb3a583e1340c0a1108d58b1be49781ad8c2f"
        );
        assert_eq!(
            proof(PasswordMethod::CachingSha2),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
        for method in [
            PasswordMethod::Native,
            PasswordMethod::CachingSha2,
            PasswordMethod::Socket,
        ] {
            assert!(method.prove("", &nonce(), false).unwrap().is_empty());
        }
    }

    /// The first example of RFC 8032, whose secret key has the length of a password.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let secret: [u8; 32] = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec,
            0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03,
            0x1c, 0xae, 0x7f, 0x60,
        ];
        assert_eq!(
            hex(&sign(&secret, b"")),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        );
    }

    #[test]
    fn in_clear_only_where_nobody_reads_along() {
        let clear = |private| PasswordMethod::Clear.prove("secret", &nonce(), private);
        assert_eq!(clear(true).unwrap(), b"secret\0");
        assert_eq!(clear(false).unwrap_err().kind, DbErrorKind::Denied);
    }

    #[test]
    fn no_password_is_encrypted_for_no_key() {
        let refused = encrypt("secret", &nonce(), b"no key").unwrap_err();
        assert_eq!(refused.kind, DbErrorKind::Protocol);
    }

    #[test]
    fn too_few_random_bytes_are_an_error() {
        for method in [
            PasswordMethod::Native,
            PasswordMethod::CachingSha2,
            PasswordMethod::Ed25519,
        ] {
            assert!(method.prove("secret", &[1; 19], true).is_err());
        }
    }
}
