//! Settings and objects of a running server, changed by SQL statements.
//!
//! In: the server without its secret, statements, and a query that verifies them. Out: success, or
//! the reason of a failure with the statements for manual use. Called by `journal::action`.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Undo;
use crate::db::database::Database;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::session::Session;

/// The wait for a server that is restarting, and for a reload to take effect.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(100);
/// A connection is quick, or it fails.
const CONNECTING_S: f64 = 10.0;
/// After one failure, the other settings of a lost server fail without a wait for this time.
const LOST: Duration = Duration::from_secs(15);
/// The tolerance between two computations of the same server start.
const SAME_START_S: f64 = 5.0;

/// Executes statements on a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutStatements {
    /// The setting or object, for messages.
    pub name: String,
    pub server: Database,
    pub statements: Vec<String>,
    /// The query that verifies the statements.
    pub check: ExpectedValue,
    /// A condition for any action, such as that a database is the one that Paribus created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_if: Option<ExpectedValue>,
    /// Present for settings that a restart of the server removes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_restart: Option<UntilRestart>,
}

/// A query for one value, and the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValue {
    pub query: String,
    #[serde(rename = "said")]
    pub value: String,
}

/// The start time of the server, and the value that was set then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UntilRestart {
    /// In seconds.
    pub started: ExpectedValue,
    pub set_to: String,
}

/// The server that was last unreachable: its name, the time, and the reason.
static UNREACHED: Mutex<Option<(String, Instant, String)>> = Mutex::new(None);

impl Undo for PutStatements {
    fn subject(&self) -> String {
        format!("{} of {}", self.name, self.server.address())
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn expected(&self) -> String {
        self.check.value.clone()
    }

    fn execute(&self) -> io::Result<()> {
        let mut session = self.connect()?;
        let mut put = || -> Result<(), DbError> {
            if let Some(condition) = &self.only_if
                && !condition.holds(&mut session)?
            {
                if self.check.holds(&mut session)? {
                    return Ok(());
                }
                let foreign = "the experiment did not create it, so it stays unchanged";
                return Err(DbError::new(DbErrorKind::Refused, "", foreign));
            }
            self.statements
                .iter()
                .try_for_each(|sql| session.query(sql).map(drop))
        };
        put().map_err(|error| self.by_hand(&error.to_string()))
    }

    /// The value in force. Waits a while where it is not yet the expected one.
    fn read_back(&self) -> io::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut session = self.connect()?;
        loop {
            let value = ask(&mut session, &self.check.query)
                .map_err(|error| self.by_hand(&error.to_string()))?;
            if value == self.check.value || Instant::now() >= deadline {
                return Ok(value);
            }
            thread::sleep(GLANCE);
        }
    }

    /// Whether a restart of the server has removed the setting, and somebody else has set the
    /// present value.
    fn has_expired(&self) -> bool {
        let Some(life) = &self.until_restart else {
            return false;
        };
        let check = || -> Option<bool> {
            let mut session = self.connect().ok()?;
            let now: f64 = ask(&mut session, &life.started.query).ok()?.parse().ok()?;
            let then: f64 = life.started.value.parse().ok()?;
            let value = ask(&mut session, &self.check.query).ok()?;
            let is_ours = value == life.set_to || value == self.check.value;
            Some((now - then).abs() > SAME_START_S && !is_ours)
        };
        check().unwrap_or(false)
    }
}

impl PutStatements {
    fn connect(&self) -> io::Result<Session> {
        let address = self.server.address();
        if let Some(reason) = unreached(&address) {
            return Err(self.by_hand(&reason));
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let opened = Session::open(&self.server.within(CONNECTING_S), false)
                .and_then(|_| Session::open(&self.server, false));
            match opened {
                Ok(session) => return Ok(session),
                Err(error) if error.kind == DbErrorKind::Lost && Instant::now() < deadline => {
                    thread::sleep(GLANCE);
                }
                Err(error) => {
                    let reason = format!("{address}: {error}");
                    if let Ok(mut last) = UNREACHED.lock() {
                        *last = Some((address, Instant::now(), reason.clone()));
                    }
                    return Err(self.by_hand(&reason));
                }
            }
        }
    }

    fn by_hand(&self, why: &str) -> io::Error {
        io::Error::other(format!("{why}; by hand: {}", self.statements.join("; ")))
    }
}

impl ExpectedValue {
    fn holds(&self, session: &mut Session) -> Result<bool, DbError> {
        Ok(ask(session, &self.query)? == self.value)
    }
}

/// The reason why a server was unreachable a moment ago.
fn unreached(address: &str) -> Option<String> {
    let last = UNREACHED.lock().ok()?;
    let (other, when, reason) = last.as_ref()?;
    (other == address && when.elapsed() < LOST).then(|| reason.clone())
}

/// The last column of the first row: `SHOW VARIABLES` puts the name before it. Empty where there is
/// no row.
fn ask(session: &mut Session, query: &str) -> Result<String, DbError> {
    let rows = session.query(query)?.rows;
    let value = rows.into_iter().next().and_then(|mut row| row.pop());
    Ok(value.flatten().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::database::SqliteFile;
    use crate::db::server::Server;
    use std::path::Path;

    fn expected_value(query: &str, value: &str) -> ExpectedValue {
        ExpectedValue {
            query: query.into(),
            value: value.into(),
        }
    }

    fn put(path: &Path, value: &str) -> PutStatements {
        PutStatements {
            name: "knob".into(),
            server: Database::Sqlite(SqliteFile {
                path: path.into(),
                pragmas: std::collections::BTreeMap::new(),
            }),
            statements: vec![format!("PRAGMA user_version = {value}")],
            check: expected_value("PRAGMA user_version", value),
            only_if: None,
            until_restart: None,
        }
    }

    fn until(started: &str, set_to: &str) -> Option<UntilRestart> {
        Some(UntilRestart {
            started: expected_value("SELECT 100.0", started),
            set_to: set_to.into(),
        })
    }

    #[test]
    fn statements_are_put_and_what_is_in_force_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let before = put(file.path(), "7");
        before.execute().unwrap();
        assert_eq!(before.read_back().unwrap(), before.expected());
        put(file.path(), "8").execute().unwrap();
        assert_eq!(before.read_back().unwrap(), "8");
    }

    #[test]
    fn nothing_is_done_to_what_is_not_ours() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut undo = put(file.path(), "7");
        undo.only_if = Some(expected_value("SELECT 1", "0"));
        let cause = undo.execute().unwrap_err().to_string();
        assert!(
            cause.contains("the experiment did not create it"),
            "{cause}"
        );
        assert!(
            cause.contains("by hand: PRAGMA user_version = 7"),
            "{cause}"
        );
        undo.check.value = "0".into(); // it is as it should be already
        undo.execute().unwrap();
        assert_eq!(undo.read_back().unwrap(), "0");
    }

    #[test]
    fn what_a_restart_took_away_has_expired_where_the_value_now_is_somebody_elses() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut undo = put(file.path(), "1");
        for (now, started, has_expired) in [
            ("3", "100", false), // the same life: whatever it is, it comes back
            ("3", "98", false),  // the same, as far as clocks can tell
            ("3", "40", true),
            ("2", "40", false), // what the experiment had set
            ("1", "40", false), // what it was before
        ] {
            put(file.path(), now).execute().unwrap();
            undo.until_restart = until(started, "2");
            assert_eq!(undo.has_expired(), has_expired, "{now} after {started}");
        }
        undo.until_restart = None;
        assert!(!undo.has_expired());
    }

    #[test]
    fn a_server_that_is_away_is_told_with_the_statement_and_not_waited_for_twice() {
        let server: Server = serde_json::from_str(
            r#"{"socket": "/no/such/socket", "user": "u", "password": "hidden", "database": "d"}"#,
        )
        .unwrap();
        let mut undo = put(Path::new("/"), "7");
        undo.server = Database::Mysql(server);
        let began = Instant::now();
        for _ in 0..3 {
            let cause = undo.execute().unwrap_err().to_string();
            assert!(cause.contains("/no/such/socket: cannot connect"), "{cause}");
            assert!(
                cause.ends_with("by hand: PRAGMA user_version = 7"),
                "{cause}"
            );
        }
        assert!(began.elapsed() < 2 * PATIENCE);
        let written = serde_json::to_string(&undo).unwrap();
        assert!(!written.contains("hidden"), "a journal has no secret");
    }
}
