//! Hiring for work on databases: which connections, served by how many threads.
//!
//! In: a job. Out: workers in a crew. Called by `workload::shared`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::embedded::Embedded;
use super::oltp::{OltpScript, statements};
use super::schema::Dialect;
use super::shared::Shared;
use super::socket::{Recipe, Socket};
use crate::db::server::Server;
use crate::db::{Connection, mysql, postgres, sqlite};
use crate::error::Result;
use crate::job::Job;
use crate::job::sql::{Database, Oltp, Sql, SqliteFile};
use crate::load::crew::Crew;
use crate::load::inbox::Message;
use crate::machine;
use crate::workload::fileio::hire::spread;
use crate::workload::fileio::requests::generator;

/// One thread serves this many connections before a second core is worth taking from the server.
const CONNECTIONS_PER_THREAD: usize = 256;

pub fn hire(
    crew: &mut Crew,
    job: &Job,
    sql: &Sql,
    shared: &Shared,
    sender: &Sender<Message>,
) -> Result<()> {
    crew.begin_stream();
    let Sql::Oltp(oltp) = sql;
    let hiring = Hiring {
        job,
        sql,
        oltp,
        place: &shared.place,
        sender,
    };
    match &oltp.database {
        Database::Sqlite(file) => hiring.embedded(crew, file),
        Database::Mysql(server) => hiring.over_sockets::<mysql::Connection>(crew, server),
        Database::Postgres(server) => hiring.over_sockets::<postgres::Connection>(crew, server),
    }
}

struct Hiring<'a> {
    job: &'a Job,
    sql: &'a Sql,
    oltp: &'a Oltp,
    place: &'a str,
    sender: &'a Sender<Message>,
}

impl Hiring<'_> {
    /// The draws of one worker.
    fn script(&self, worker: usize) -> OltpScript {
        OltpScript::new(self.oltp, generator(self.job.seed, worker as u64))
    }

    /// A thread for each connection.
    fn embedded(&self, crew: &mut Crew, file: &SqliteFile) -> Result<()> {
        let statements = Arc::new(statements(self.oltp, Dialect::Sqlite));
        let execution = self.sql.execution();
        for worker in 0..self.job.load.outstanding {
            let (file, statements) = (file.clone(), Arc::clone(&statements));
            let (script, place) = (self.script(worker), self.place.to_string());
            crew.start(self.sender, move || {
                let connection = sqlite::Connection::open(&file, &statements, execution, false)
                    .map_err(|error| error.at(&place))?;
                let kinds = statements.iter().map(|statement| statement.kind).collect();
                Ok(Embedded::new(connection, place, script, kinds))
            })?;
        }
        Ok(())
    }

    /// Few threads for all connections.
    fn over_sockets<C: Connection + 'static>(
        &self,
        crew: &mut Crew,
        server: &Server,
    ) -> Result<()> {
        let statements = Arc::new(statements(self.oltp, Dialect::of(&self.oltp.database)));
        let threads = spread(
            self.job.load.outstanding,
            CONNECTIONS_PER_THREAD,
            machine::cores_usable(),
        );
        for (worker, connections) in threads.into_iter().enumerate() {
            let script = self.script(worker);
            let recipe = Recipe {
                server: server.clone(),
                place: self.place.to_string(),
                statements: Arc::clone(&statements),
                execution: self.sql.execution(),
            };
            crew.start(self.sender, move || {
                Socket::<C, _>::open(recipe, connections, script)
            })?;
        }
        Ok(())
    }
}
