//! The counters of a database server, read together with the machine's.
//!
//! In: the server, and the statement that reads its counters. Out: one `Counted` for each request,
//! through the inbox. Called by `telemetry::sample`. It has a thread and a connection of its own,
//! so that a slow server delays no sample. It sends no request while an answer is outstanding.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread;

use serde::Deserialize;

use super::Message;
use super::event::Counted;
use crate::clock::{self, Nanos, seconds};
use crate::db::Rows;
use crate::db::database::Database;
use crate::db::session::Session;
use crate::error::{EngineError, Result};

/// `statement` returns names and numbers; `opening` is executed once before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountersJob {
    database: Database,
    opening: String,
    statement: String,
}

/// Stops reading when dropped.
pub struct Reader {
    requests: SyncSender<()>,
}

impl Reader {
    pub fn start(job: CountersJob, answers: Sender<Message>) -> Result<Reader> {
        let (requests, pending_requests) = sync_channel(1);
        thread::Builder::new()
            .name("counters".into())
            .spawn(move || {
                if let Err(error) = read(&job, &pending_requests, &answers) {
                    let _ = answers.send(Message::Counted(Counted::failed(error.to_string())));
                }
            })
            .map_err(|cause| EngineError::no_thread(&cause))?;
        Ok(Reader { requests })
    }

    /// Requests a reading, unless the previous answer is outstanding.
    pub fn ask(&self) {
        let _ = self.requests.try_send(());
    }
}

fn read(job: &CountersJob, questions: &Receiver<()>, answers: &Sender<Message>) -> Result<()> {
    let address = job.database.address();
    let mut session = Session::open(&job.database, false).map_err(|error| error.at(&address))?;
    let mut ask = |sql: &str| session.query(sql).map_err(|error| error.at(&address));
    ask(&job.opening)?;
    let mut before: Option<(Nanos, BTreeMap<String, f64>)> = None;
    while questions.recv().is_ok() {
        let began = clock::now();
        let rows = ask(&job.statement)?;
        let ended = clock::now();
        let at = began + (ended - began) / 2;
        let counters = numbers(rows);
        if counters.is_empty() {
            return Err(EngineError::bad_command(format!(
                "{address}: the statement that reads the counters returned no number"
            )));
        }
        let counted = Counted {
            monotonic_s: seconds(at),
            duration_s: before.as_ref().map(|(then, _)| seconds(at - then)),
            took_s: seconds(ended - began),
            grown: before
                .as_ref()
                .map_or_else(BTreeMap::new, |(_, old)| growth(old, &counters)),
            counters: counters.clone(),
            failed: None,
        };
        before = Some((at, counters));
        if answers.send(Message::Counted(counted)).is_err() {
            break;
        }
    }
    Ok(())
}

/// The growth of each counter; it may be negative.
fn growth(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    after
        .iter()
        .filter_map(|(name, now)| Some((name.clone(), now - before.get(name)?)))
        .collect()
}

/// The rows with a name and a number; all others are left out.
fn numbers(rows: Rows) -> BTreeMap<String, f64> {
    rows.rows
        .into_iter()
        .filter_map(|row| match <[Option<String>; 2]>::try_from(row) {
            Ok([Some(name), Some(value)]) => Some((name, value.parse().ok()?)),
            _ => None,
        })
        .filter(|(_, value): &(String, f64)| value.is_finite())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_of_what_both_readings_have() {
        let reading = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).into(), *value))
                .collect()
        };
        let (before, after) = (
            reading(&[("a", 3.0), ("b", 9.0)]),
            reading(&[("b", 4.0), ("c", 1.0)]),
        );
        assert_eq!(growth(&before, &after), reading(&[("b", -5.0)]));
    }

    #[test]
    fn only_names_with_numbers_are_counters() {
        let row = |name: &str, value: Option<&str>| {
            vec![Some(name.to_string()), value.map(str::to_string)]
        };
        let rows = Rows {
            columns: vec!["Variable_name".into(), "Value".into()],
            rows: vec![
                row("a", Some("12")),
                row("b", Some("ON")),
                row("c", None),
                row("d", Some("nan")),
                vec![Some("e".into())],
            ],
        };
        assert_eq!(numbers(rows), BTreeMap::from([("a".to_string(), 12.0)]));
    }
}
