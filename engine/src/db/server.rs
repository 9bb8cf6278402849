//! The server, and the user who connects to it.
//!
//! In: JSON of a job. Out: plain data; the password is never serialised. Read by the connections.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::credential::Credential;
use super::error::{DbError, DbErrorKind, DbResult};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// A Unix socket: for PostgreSQL the file itself, not its folder. Null: host and port.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    #[serde(default)]
    pub host: Option<String>,
    /// Null: the usual one of the protocol.
    #[serde(default)]
    pub port: Option<u16>,
    /// Empty: the user of the credential, else the user of this process.
    #[serde(default)]
    pub user: String,
    #[serde(default, skip_serializing)]
    pub password: Option<Secret>,
    /// The source of the password, instead of the password itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Credential>,
    pub database: String,
    #[serde(default)]
    pub tls: Tls,
    /// Certificates in PEM that must have signed the server's; null: those of the system.
    #[serde(default)]
    pub tls_ca: Option<PathBuf>,
    /// The time limit for connecting, and for any answer outside measured operations.
    #[serde(default = "a_minute")]
    pub timeout_s: f64,
    /// How long a load waits for a server that is away, before it ends with an error.
    #[serde(default)]
    pub outage_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    #[default]
    Off,
    /// Encrypted; the server's identity is not checked.
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
    /// The socket, or host and port, for messages.
    pub fn address(&self, usual_port: u16) -> String {
        match &self.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.host(), self.port.unwrap_or(usual_port)),
        }
    }

    pub fn host(&self) -> &str {
        self.host.as_deref().unwrap_or("localhost")
    }

    /// The same server with the user and the password to log in with.
    pub fn with_login(&self) -> DbResult<Server> {
        let mut server = self.clone();
        let environment_user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
        if let Some(credential) = &self.credential {
            if self.user.is_empty() {
                server.user = environment_user.clone().unwrap_or_default();
            }
            let login = credential.find(&server)?;
            server.password = login.password;
            server.user = match login.user {
                Some(user) if self.user.is_empty() => user,
                _ => server.user,
            };
        }
        if server.user.is_empty() {
            server.user = environment_user.map_err(|_| {
                let message = "no user is named, and none is in the environment";
                DbError::new(DbErrorKind::Denied, "", message)
            })?;
        }
        Ok(server)
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
