//! Encryption with the public key of a server: RSAES-OAEP with SHA-1 (RFC 8017, section 7.1).
//!
//! In: the key as PEM, a short message. Out: the message as only the server can read it. Called by
//! `password`. The time that it takes does not depend on the message.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use spki::SubjectPublicKeyInfoRef;

/// Bytes of a hash.
const HASH: usize = 20;
/// A server that is not trusted names the key, and the work grows with both.
const MOST_BYTES: usize = 1024;
const MOST_EXPONENT_BYTES: usize = 8;

/// Encrypts a message; an error says why the key cannot be used for it.
pub fn encrypt(pem: &[u8], message: &[u8]) -> Result<Vec<u8>, String> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|cause| cause.to_string())?;
    let info =
        SubjectPublicKeyInfoRef::try_from(der.as_ref()).map_err(|cause| cause.to_string())?;
    let key = pkcs1::RsaPublicKeyRef::try_from(info.subject_public_key.raw_bytes())
        .map_err(|cause| cause.to_string())?;
    let (modulus, exponent) = (key.modulus.as_bytes(), key.public_exponent.as_bytes());
    if exponent.len() > MOST_EXPONENT_BYTES {
        return Err(format!("its exponent has {} bytes", exponent.len()));
    }
    let mut seed = [0; HASH];
    SystemRandom::new()
        .fill(&mut seed)
        .map_err(|_| "the system has no random numbers".to_owned())?;
    let padded = pad(message, seed, modulus.len())?;
    power(&padded, exponent, modulus)
}

/// The message with random bytes, as long as the modulus.
fn pad(message: &[u8], seed: [u8; HASH], length: usize) -> Result<Vec<u8>, String> {
    if length > MOST_BYTES || length < message.len() + 2 * HASH + 2 {
        return Err(format!(
            "a key of {} bits for a message of {} bytes",
            8 * length,
            message.len()
        ));
    }
    let mut block = digest(&SHA1_FOR_LEGACY_USE_ONLY, b"").as_ref().to_vec();
    block.resize(length - HASH - 2 - message.len(), 0);
    block.push(1);
    block.extend_from_slice(message);
    mask(&mut block, &seed);
    let mut masked_seed = seed;
    mask(&mut masked_seed, &block);
    Ok([&[0], &masked_seed[..], &block].concat())
}

/// Exclusive or with a stream of hashes of `seed`: MGF1 of RFC 8017, section B.2.1.
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (counter, chunk) in (0u32..).zip(bytes.chunks_mut(HASH)) {
        let stream = digest(
            &SHA1_FOR_LEGACY_USE_ONLY,
            &[seed, &counter.to_be_bytes()].concat(),
        );
        for (byte, mask) in chunk.iter_mut().zip(stream.as_ref()) {
            *byte ^= mask;
        }
    }
}

/// `base` to the power of `exponent`, modulo `modulus`; as long as the modulus.
fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Result<Vec<u8>, String> {
    let number = |bytes: &[u8], length: usize| {
        BoxedUint::from_be_slice(bytes, 8 * length as u32).map_err(|cause| cause.to_string())
    };
    let odd: Option<Odd<BoxedUint>> = Odd::new(number(modulus, modulus.len())?).into();
    let parameters = BoxedMontyParams::new(odd.ok_or("its modulus is even")?);
    let result = BoxedMontyForm::new(number(base, modulus.len())?, &parameters)
        .pow(&number(exponent, exponent.len())?)
        .retrieve()
        .to_be_bytes();
    Ok(result[result.len() - modulus.len()..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of 1024 bits, made by OpenSSL for these tests.
    const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDDei08JENyR+o2QpwAcL9cKZU9
FKdzU44JlrRYKuKznNBzrGen2a++hti3z+pV5WC4GLvmrB2O4ODvX+wD6hyGy3BP
Tl6IoM2rFPyNCDKEgsf96r0ujIU4JGHcE1tSG+XBAcAUsnOijOSlburnMcs2iHzr
yR79E4hv6zkwmaAZBwIDAQAB
-----END PUBLIC KEY-----
";
    const PRIVATE_EXPONENT: [&str; 4] = [
        "b032738daf5e4027847cce4391be0f2f02a86bbb2f48abbaeef7b1ad7b5286f5",
        "c58b4e8ecc64529e592c055b5aed7be95767ac0f3b7b152bac74f8306442e4dc",
        "22e8562e810ccc4375adc28f0fcbec5436148705e8d85c966319",
        "86244f28c95b4d145426695063914ca56ab5a65d4bb99183968cc043f2693ee0d4d0262b6fe9",
    ];

    fn modulus() -> Vec<u8> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(KEY.as_bytes()).unwrap();
        der[29..157].to_vec()
    }

    fn decrypt(encrypted: &[u8]) -> Vec<u8> {
        let digits = PRIVATE_EXPONENT.concat();
        let exponent: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|place| u8::from_str_radix(&digits[place..place + 2], 16).unwrap())
            .collect();
        let padded = power(encrypted, &exponent, &modulus()).unwrap();
        let (mut seed, mut block) = (padded[1..21].to_vec(), padded[21..].to_vec());
        mask(&mut seed, &block);
        mask(&mut block, &seed);
        let end = 20 + block[20..].iter().position(|byte| *byte == 1).unwrap();
        block[end + 1..].to_vec()
    }

    #[test]
    fn only_the_server_can_decrypt() {
        let first = encrypt(KEY.as_bytes(), b"a secret").unwrap();
        assert_eq!(decrypt(&first), b"a secret");
        assert_ne!(first, encrypt(KEY.as_bytes(), b"a secret").unwrap());
    }

    /// The same bytes as Python's hashlib computes.
    #[test]
    fn padding_is_that_of_the_standard() {
        let hex: String = pad(b"a secret", [7; HASH], 64)
            .unwrap()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "0013a4cbfa60fc5ba146f3c9ed4af94e89e9dfbb6a60a508fd889b3ae4f6de9e\
             fc83395109f732a5efced301a8d34c93a568f9215e5ecb7d3fb3ebc6e7286ef2"
        );
    }

    #[test]
    fn unusable_keys_are_errors() {
        assert!(encrypt(b"no key", b"").is_err());
        let cut = KEY.replace("MIGfMA0G", "MIGfMA0H");
        assert!(encrypt(cut.as_bytes(), b"").is_err());
        let with_zero = format!("{}\0", KEY.trim_end());
        assert!(encrypt(with_zero.as_bytes(), &[1; 86]).is_ok());
        assert!(encrypt(KEY.as_bytes(), &[1; 87]).is_err());
        assert!(power(&[1], &[3], &[4]).is_err());
    }
}
