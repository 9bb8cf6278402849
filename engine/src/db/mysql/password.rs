//! Proofs that one knows the password, by the methods of MySQL and MariaDB.
//!
//! In: a method, the password, random bytes of the server. Out: bytes that prove it. Called by `login`.

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};

use crate::db::error::{DbError, Kind, Result};

/// Random bytes that the older methods use.
const NONCE: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Native,
    CachingSha2,
    Ed25519,
    Clear,
    /// The server sees who is at the other end of the Unix socket.
    Socket,
}

impl Method {
    pub fn named(name: &[u8]) -> Option<Method> {
        Some(match name {
            b"mysql_native_password" => Method::Native,
            b"caching_sha2_password" => Method::CachingSha2,
            b"client_ed25519" => Method::Ed25519,
            b"mysql_clear_password" => Method::Clear,
            b"auth_socket" | b"unix_socket" => Method::Socket,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Method::Native => "mysql_native_password",
            Method::CachingSha2 => "caching_sha2_password",
            Method::Ed25519 => "client_ed25519",
            Method::Clear => "mysql_clear_password",
            Method::Socket => "auth_socket",
        }
    }

    /// The first answer; `private` says whether nobody on the way can read it.
    pub fn prove(self, password: &str, nonce: &[u8], private: bool) -> Result<Vec<u8>> {
        Ok(match self {
            Method::Socket => Vec::new(),
            Method::Clear => clear(password, private)?,
            Method::Ed25519 => sign(password.as_bytes(), start(nonce, 32)?).to_vec(),
            Method::Native | Method::CachingSha2 if password.is_empty() => Vec::new(),
            Method::Native => {
                let hash = |parts: &[&[u8]]| digest(&SHA1_FOR_LEGACY_USE_ONLY, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                let mask = hash(&[start(nonce, NONCE)?, twice.as_ref()]);
                exclusive_or(once.as_ref(), mask.as_ref())
            }
            Method::CachingSha2 => {
                let hash = |parts: &[&[u8]]| digest(&SHA256, &parts.concat());
                let once = hash(&[password.as_bytes()]);
                let twice = hash(&[once.as_ref()]);
                let mask = hash(&[twice.as_ref(), start(nonce, NONCE)?]);
                exclusive_or(once.as_ref(), mask.as_ref())
            }
        })
    }
}

/// The password itself, for a server that cannot do without; never where others can read along.
pub fn clear(password: &str, private: bool) -> Result<Vec<u8>> {
    if !private {
        return Err(DbError::new(
            Kind::Denied,
            "",
            "the server wants the password in clear, which is sent only by TLS or a Unix socket",
        ));
    }
    Ok(with_zero(password))
}

/// The password, readable only by the server whose public key this is.
pub fn encrypt(password: &str, nonce: &[u8], key: &[u8]) -> Result<Vec<u8>> {
    let unusable = |cause: String| {
        DbError::protocol(format!("the server sends no usable public key: {cause}"))
    };
    let key = std::str::from_utf8(key).map_err(|cause| unusable(cause.to_string()))?;
    let key = RsaPublicKey::from_public_key_pem(key.trim_end_matches('\0'))
        .map_err(|cause| unusable(cause.to_string()))?;
    let nonce = start(nonce, NONCE)?;
    let masked: Vec<u8> = with_zero(password)
        .iter()
        .zip(nonce.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    key.encrypt(
        &mut rsa::rand_core::OsRng,
        Oaep::new::<sha1::Sha1>(),
        &masked,
    )
    .map_err(|cause| unusable(cause.to_string()))
}

/// Ed25519's signature, but with a secret key of any length, and made anew for each signature.
fn sign(password: &[u8], nonce: &[u8]) -> [u8; 64] {
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

fn start(nonce: &[u8], length: usize) -> Result<&[u8]> {
    nonce.get(..length).ok_or_else(|| {
        DbError::protocol(format!(
            "the server sends {} random bytes where {length} are needed",
            nonce.len()
        ))
    })
}
