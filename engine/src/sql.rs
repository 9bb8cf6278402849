//! `ceteris-engine sql`: statements for administering a database, one after the other.
//!
//! In: one job line on stdin that says which database, then one query a line; the end of stdin ends
//! it. Out: `hello` once it is connected, then one `rows` or `refused` for each query, in order.
//! Called by `main`. A lost connection is an error and ends it.

use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use serde::{Deserialize, Serialize};

use crate::db::error::{DbError, Kind};
use crate::db::server::Server;
use crate::db::{Connection, Execution, Rows, mysql, postgres};
use crate::error::{EngineError, Result};
use crate::event::{Event, Events, Hello};
use crate::input::{self, Input};
use crate::job::check_protocol;
use crate::load::crew::no_thread;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SqlJob {
    protocol: u32,
    driver: Driver,
    /// Where, and who connects; of `sqlite` null.
    #[serde(default)]
    server: Option<Server>,
    /// The file of `sqlite`.
    #[serde(default)]
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Driver {
    Mysql,
    Postgres,
    Sqlite,
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
    /// The server says no, and the connection goes on.
    Refused(DbError),
}

pub fn sql(stdin: impl Read + Send + 'static, events: &Events) -> Result<()> {
    let (sender, inbox) = channel();
    input::forward(stdin, sender, |input| input).map_err(|cause| no_thread(&cause))?;
    let job = match inbox.recv() {
        Ok(Input::Line(line)) => parse(&line)?,
        _ => return Err(EngineError::bad_job("stdin has no job")),
    };
    match (job.driver, &job.server) {
        (Driver::Mysql, Some(server)) => {
            let place = server.place(3306);
            let mut connection = open::<mysql::Connection>(server, &place)?;
            serve(&job, &place, &inbox, events, |text| connection.query(text))
        }
        (Driver::Postgres, Some(server)) => {
            let place = server.place(5432);
            let mut connection = open::<postgres::Connection>(server, &place)?;
            serve(&job, &place, &inbox, events, |text| connection.query(text))
        }
        (Driver::Sqlite, _) => Err(EngineError::bad_job("sqlite is not there yet")),
        (_, None) => Err(EngineError::bad_job("the job has no field `server`")),
    }
}

fn parse(line: &str) -> Result<SqlJob> {
    check_protocol(line)?;
    serde_json::from_str(line)
        .map_err(|cause| EngineError::bad_job(format!("the job is not valid: {cause}")))
}

fn open<C: Connection>(server: &Server, place: &str) -> Result<C> {
    C::open(server, &[], Execution::Text).map_err(|error| error.at(place))
}

/// Says hello, and answers queries to the end of the input.
fn serve(
    job: &SqlJob,
    place: &str,
    inbox: &Receiver<Input>,
    events: &Events,
    mut ask: impl FnMut(&str) -> crate::db::error::Result<Rows>,
) -> Result<()> {
    events.emit(&Event::Hello(Hello::new(
        serde_json::to_value(job).unwrap_or_default(),
    )));
    while let Ok(Input::Line(line)) = inbox.recv() {
        // The line is not repeated: a statement may hold a password.
        let query: Query = serde_json::from_str(&line)
            .map_err(|cause| EngineError::bad_command(format!("this is no query: {cause}")))?;
        match ask(&query.query) {
            Ok(rows) => events.emit(&Event::Sql(SqlEvent::Rows(rows))),
            Err(error) if matches!(error.kind, Kind::Lost | Kind::Protocol) => {
                return Err(error.at(place));
            }
            Err(error) => events.emit(&Event::Sql(SqlEvent::Refused(error))),
        }
    }
    Ok(())
}
