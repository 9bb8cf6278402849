//! Which server, and who connects to it.
//!
//! In: JSON of a job. Out: plain data; the password is never written again. Read by the
//! connections.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// A Unix socket: of PostgreSQL the file itself, not its folder. Null: host and port.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    #[serde(default)]
    pub host: Option<String>,
    /// Null: the usual one of the protocol.
    #[serde(default)]
    pub port: Option<u16>,
    pub user: String,
    #[serde(default, skip_serializing)]
    pub password: Option<Secret>,
    pub database: String,
    #[serde(default)]
    pub tls: Tls,
    /// Certificates that the server's must be signed by, PEM; null: those of the system.
    #[serde(default)]
    pub tls_ca: Option<PathBuf>,
    /// How long connecting, and any answer outside measured operations, may take.
    #[serde(default = "a_minute")]
    pub timeout_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    #[default]
    Off,
    /// Encrypted; who the server is, is not looked at.
    Required,
    /// Encrypted, and the server's certificate must be valid for its host.
    Verified,
}

/// A password, which no log can show.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}

impl Server {
    /// For people: the socket, or host and port.
    pub fn place(&self, usual_port: u16) -> String {
        match &self.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.host(), self.port.unwrap_or(usual_port)),
        }
    }

    pub fn host(&self) -> &str {
        self.host.as_deref().unwrap_or("localhost")
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_s)
    }

    pub fn password(&self) -> &str {
        self.password.as_ref().map_or("", Secret::reveal)
    }
}

fn a_minute() -> f64 {
    60.0
}
