//! The source of a password: a job and a journal name the source, and each connection reads it.
//!
//! In: the source as a job names it. Out: user and password, held in memory only. Called by
//! `db::server` for each connection, so that an undo finds them too.

mod option_file;
mod pass_file;

use std::env;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{DbError, DbErrorKind, DbResult};
use super::server::{Secret, Server};
use crate::folder;

/// Larger than any password file; limits the read from a device without an end.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// A variable of the environment.
    Env(String),
    /// A file with the password only; a line end after it is ignored.
    File(PathBuf),
    /// MySQL's option file, such as ~/.my.cnf.
    OptionFile(PathBuf),
    /// PostgreSQL's password file, such as ~/.pgpass.
    PassFile(PathBuf),
}

/// The user and the password from a source.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Login {
    pub user: Option<String>,
    pub password: Option<Secret>,
}

impl Credential {
    /// The login of this server. An unusable source is an error.
    pub fn find(&self, server: &Server) -> DbResult<Login> {
        let alone = |password: &str| Login {
            user: None,
            password: Some(Secret::new(password)),
        };
        match self {
            Credential::Env(name) => env::var(name)
                .map(|password| alone(&password))
                .map_err(|_| denied(format!("the environment has no variable {name}"))),
            Credential::File(path) => {
                let text = read(path)?;
                let line = text.strip_suffix('\n').unwrap_or(&text);
                Ok(alone(line.strip_suffix('\r').unwrap_or(line)))
            }
            Credential::OptionFile(path) => Ok(option_file::client(&read(path)?)),
            Credential::PassFile(path) => Ok(pass_file::matching(&read(path)?, server)),
        }
    }
}

/// The text of a file that others cannot read. It never becomes part of an error.
fn read(path: &Path) -> DbResult<String> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        denied(format!(
            "cannot read the password in {}: {cause}",
            path.display()
        ))
    };
    // Opening a pipe without a writer must not block.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(|cause| unreadable(&cause))?;
    let metadata = file.metadata().map_err(|cause| unreadable(&cause))?;
    if !metadata.is_file() || !folder::is_trusted(metadata.uid()) {
        return Err(denied(format!(
            "{} must be a regular file that you own, since it holds a password",
            path.display()
        )));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(denied(format!(
            "other users can read the password in {}; remove their access: chmod 600 {0}",
            path.display()
        )));
    }
    let mut text = String::new();
    file.take(MOST_BYTES)
        .read_to_string(&mut text)
        .map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    Ok(text)
}

fn denied(message: String) -> DbError {
    DbError::new(DbErrorKind::Denied, "", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn server() -> Server {
        serde_json::from_str(r#"{"user": "u", "database": "d"}"#).unwrap()
    }

    #[test]
    fn a_file_of_a_password_is_it_without_the_lines_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), " it's \r\n").unwrap();
        let login = Credential::File(file.path().into())
            .find(&server())
            .unwrap();
        assert_eq!(login.password, Some(Secret::new(" it's ")));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_without_telling_what_is_in_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "hidden").unwrap();
        for mode in [0o640, 0o604] {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            let error = Credential::File(file.path().into())
                .find(&server())
                .unwrap_err();
            assert_eq!(error.kind, DbErrorKind::Denied);
            assert!(error.message.contains("chmod 600"), "{error}");
            assert!(!error.message.contains("hidden"));
        }
    }

    #[test]
    fn a_device_or_a_pipe_is_no_file_of_a_password_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        for path in [pipe, "/dev/zero".into(), folder.path().into()] {
            let error = Credential::File(path).find(&server()).unwrap_err();
            assert!(error.message.contains("regular file"), "{error}");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (credential, name) in [
            (
                Credential::Env("NO_SUCH_PASSWORD".into()),
                "NO_SUCH_PASSWORD",
            ),
            (Credential::File("/no/such/file".into()), "/no/such/file"),
        ] {
            let error = credential.find(&server()).unwrap_err();
            assert!(error.message.contains(name), "{error}");
        }
    }
}
