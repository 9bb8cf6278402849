//! `paribus-engine sql`: administrative statements for a database, one after the other.
//!
//! In: one job line on stdin that names the database, then one query a line. The end of stdin ends
//! it. Out: `hello` after connecting, then one `rows` or `refused` for each query, in order. Called
//! by `main`. A lost connection is an error and ends it.

use std::io::Read;
use std::sync::mpsc::channel;

use serde::{Deserialize, Serialize};

use crate::db::Rows;
use crate::db::database::Database;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::session::Session;
use crate::error::{EngineError, Result};
use crate::event::{Events, Hello};
use crate::input::{self, Input};
use crate::job;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SqlJob {
    protocol: u32,
    database: Database,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum SqlEvent {
    Rows(Rows),
    /// The server has refused the statement; the connection continues.
    Refused(DbError),
}

pub fn sql(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender, |input| input).map_err(|cause| EngineError::no_thread(&cause))?;
    let job = match inbox.recv() {
        Ok(Input::Line(line)) => job::parse::<SqlJob>(&line)?,
        _ => return Err(EngineError::no_job()),
    };
    let address = job.database.address();
    let mut session = Session::open(&job.database, false).map_err(|error| error.at(&address))?;
    events.emit(&Hello::new(serde_json::to_value(&job).unwrap_or_default()));
    while let Ok(Input::Line(line)) = inbox.recv() {
        // The error does not repeat the line: a statement may hold a password.
        let query: Query = serde_json::from_str(&line)
            .map_err(|cause| EngineError::bad_command(format!("this is not a query: {cause}")))?;
        match session.query(&query.query) {
            Ok(rows) => events.emit(&SqlEvent::Rows(rows)),
            Err(error) if matches!(error.kind, DbErrorKind::Lost | DbErrorKind::Protocol) => {
                return Err(error.at(&address));
            }
            Err(error) => events.emit(&SqlEvent::Refused(error)),
        }
    }
    Ok(())
}
