//! The file with the password of a tool's server, in the form that the tool reads.
//!
//! In: a server, and a path. Out: a file that only this user can read, removed with the tool's end.
//! The password comes from where the server's job names it, and reaches no argument list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::db::database::Database;
use crate::db::server::Server;
use crate::error::{EngineError, Result};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLogin {
    database: Database,
    /// The file to write; it lives as long as the program.
    path: PathBuf,
    form: Form,
    /// A variable of the program's environment that gets the password, where there is one.
    #[serde(default)]
    variable: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// MySQL's option file.
    OptionFile,
    /// PostgreSQL's password file.
    PassFile,
    /// sysbench's configuration file.
    Sysbench,
    /// The password alone, without a line end.
    Plain,
}

/// Removes the file when it is dropped.
pub struct PasswordFile(PathBuf);

impl Drop for PasswordFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl ToolLogin {
    /// Writes the file, and returns it with the variables for the program's environment.
    pub fn provide(&self) -> Result<(PasswordFile, BTreeMap<String, String>)> {
        let server = match &self.database {
            Database::Mysql(server) | Database::Postgres(server) => server,
            Database::Sqlite(_) => return Err(EngineError::bad_job("login names no server")),
        };
        let server = server
            .with_login()
            .map_err(|error| error.at(&self.database.address()))?;
        let password = server.password();
        if password.contains(['\n', '\r', '\0']) {
            return Err(EngineError::bad_job(
                "the password has a line end, which no file for a tool can hold",
            ));
        }
        self.write(&text(self.form, &server))
            .map_err(|cause| EngineError::from_io("write", &self.path, &cause))?;
        let variable = self.variable.iter().filter(|_| !password.is_empty());
        let variables = variable.map(|name| (name.clone(), password.to_owned()));
        Ok((PasswordFile(self.path.clone()), variables.collect()))
    }

    /// A new file, so that nobody holds it open or has it linked.
    fn write(&self, text: &str) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path)?;
        file.write_all(text.as_bytes())
    }
}

fn text(form: Form, server: &Server) -> String {
    let password = server.password();
    match form {
        Form::OptionFile => {
            let mut text = format!("[client]\nuser=\"{}\"\n", escaped(&server.user, &['"']));
            if !password.is_empty() {
                let _ = writeln!(text, "password=\"{}\"", escaped(password, &['"']));
            }
            text
        }
        Form::PassFile => format!("*:*:*:*:{}\n", escaped(password, &[':'])),
        Form::Sysbench if password.is_empty() => String::new(),
        Form::Sysbench => format!("mysql-password={password}\n"),
        Form::Plain => password.to_owned(),
    }
}

/// The text with a backslash before each backslash and each of `special`.
fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character == '\\' || special.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn login(form: &str, path: &str, password: &str) -> ToolLogin {
        let database = serde_json::json!({"driver": "mysql", "user": "u", "database": "d", "password": password});
        let job = serde_json::json!({"database": database, "path": path, "form": form, "variable": "MYSQL_PWD"});
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn each_form_escapes_what_its_reader_takes_for_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        for (form, expected) in [
            (
                "option_file",
                "[client]\nuser=\"u\"\npassword=\"a\\\"b\\\\:c\"\n",
            ),
            ("pass_file", "*:*:*:*:a\"b\\\\\\:c\n"),
            ("sysbench", "mysql-password=a\"b\\:c\n"),
            ("plain", "a\"b\\:c"),
        ] {
            let login = login(form, path.to_str().unwrap(), "a\"b\\:c");
            let (file, variables) = login.provide().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
            assert_eq!(variables["MYSQL_PWD"], "a\"b\\:c");
            drop(file);
            assert!(!path.exists());
        }
    }

    #[test]
    fn without_a_password_there_is_no_variable_and_the_file_names_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        let (_file, variables) = login("option_file", path.to_str().unwrap(), "")
            .provide()
            .unwrap();
        assert!(variables.is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[client]\nuser=\"u\"\n");
    }

    #[test]
    fn the_password_is_not_part_of_a_job_that_is_shown() {
        let json = serde_json::to_string(&login("plain", "/p", "hidden")).unwrap();
        assert!(!json.contains("hidden"), "{json}");
    }
}
