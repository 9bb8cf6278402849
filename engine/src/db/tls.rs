//! TLS over a non-blocking socket.
//!
//! In: the trusted certificates. Out: a session before its handshake. Called by `stream`.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::error::{DbError, DbResult};
use super::server::{Server, Tls};

pub fn session(server: &Server) -> DbResult<ClientConnection> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let config = match server.tls {
        Tls::Verified => {
            let roots = roots(server.tls_ca.as_deref())?;
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Tls::Off | Tls::Required => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody))
            .with_no_client_auth(),
    };
    let name = ServerName::try_from(server.host().to_string())
        .map_err(|_| failed(format!("{} is not a valid host name", server.host())))?;
    ClientConnection::new(Arc::new(config), name).map_err(failed)
}

pub fn failed(cause: impl std::fmt::Display) -> DbError {
    DbError::protocol(format!("TLS: {cause}"))
}

fn roots(file: Option<&Path>) -> DbResult<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file else {
        // Some system certificates cannot be read by rustls; the others suffice.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let unreadable = |cause| failed(format!("cannot read {}: {cause}", file.display()));
    for certificate in
        CertificateDer::pem_file_iter(file).map_err(|cause| unreadable(cause.to_string()))?
    {
        let certificate = certificate.map_err(|cause| unreadable(cause.to_string()))?;
        roots
            .add(certificate)
            .map_err(|cause| unreadable(cause.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("it has no certificate".into()));
    }
    Ok(roots)
}

/// Trusts any server. Signatures are not checked either: they would only prove possession of a key
/// that anyone could have created.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
