//! Hiring for work on databases: which connections, served by how many threads.
//!
//! In: a job. Out: workers in a crew. Called by `workload::shared`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::embedded::Embedded;
use super::oltp::{OltpScript, statements};
use super::schema::Dialect;
use super::shared::Shared;
use crate::db::sqlite;
use crate::db::statement::Statement;
use crate::error::Result;
use crate::job::Job;
use crate::job::sql::{Database, Sql};
use crate::load::crew::Crew;
use crate::load::inbox::Message;
use crate::workload::fileio::requests::generator;

pub fn hire(
    crew: &mut Crew,
    job: &Job,
    sql: &Sql,
    shared: &Shared,
    sender: &Sender<Message>,
) -> Result<()> {
    crew.begin_stream();
    let Sql::Oltp(oltp) = sql;
    let statements = Arc::new(statements(oltp, Dialect::of(&oltp.database)));
    let script = |worker| OltpScript::new(oltp, generator(job.seed, worker));
    match &oltp.database {
        Database::Sqlite(file) => {
            for worker in 0..job.load.outstanding {
                let (file, statements) = (file.clone(), Arc::clone(&statements));
                let (script, place) = (script(worker as u64), shared.place.clone());
                let execution = sql.execution();
                crew.start(sender, move || {
                    let connection = sqlite::Connection::open(&file, &statements, execution, false)
                        .map_err(|error| error.at(&place))?;
                    let kinds = statements.iter().map(|one: &Statement| one.kind).collect();
                    Ok(Embedded::new(connection, place, script, kinds))
                })?;
            }
        }
        Database::Mysql(_) | Database::Postgres(_) => {}
    }
    Ok(())
}
