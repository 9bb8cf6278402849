//! Hiring for work on databases: which connections, served by how many threads.
//!
//! In: a job. Out: workers in a crew. Called by `workload::shared`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::embedded::Embedded;
use super::mix::{self, MixScript};
use super::oltp::{self, OltpScript};
use super::schema::Dialect;
use super::shared::Shared;
use super::socket::{Recipe, Socket};
use super::transaction::{Script, Worker};
use crate::db::server::Server;
use crate::db::statement::Statement;
use crate::db::{Connection, mysql, postgres, sqlite};
use crate::error::Result;
use crate::job::Job;
use crate::job::sql::{Database, Sql, SqliteFile};
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
    let dialect = Dialect::of(sql.database());
    let statements = match sql {
        Sql::Oltp(oltp) => oltp::statements(oltp, dialect),
        Sql::SqlMix(mix) => mix::statements(mix, dialect),
    };
    let hiring = Hiring {
        job,
        sql,
        statements: Arc::new(statements),
        place: &shared.place,
        sender,
    };
    match sql {
        Sql::Oltp(oltp) => hiring.hire(crew, |worker| {
            OltpScript::new(oltp, generator(job.seed, worker.number as u64))
        }),
        Sql::SqlMix(mix) => hiring.hire(crew, |worker| {
            MixScript::new(mix, job.seed, shared.run, worker)
        }),
    }
}

struct Hiring<'a> {
    job: &'a Job,
    sql: &'a Sql,
    statements: Arc<Vec<Statement>>,
    place: &'a str,
    sender: &'a Sender<Message>,
}

impl Hiring<'_> {
    /// `script` makes the draws of a worker.
    fn hire<S: Script + 'static>(
        &self,
        crew: &mut Crew,
        script: impl Fn(Worker) -> S,
    ) -> Result<()> {
        match self.sql.database() {
            Database::Sqlite(file) => self.embedded(crew, file, script),
            Database::Mysql(server) => {
                self.over_sockets::<mysql::Connection, S>(crew, server, script)
            }
            Database::Postgres(server) => {
                self.over_sockets::<postgres::Connection, S>(crew, server, script)
            }
        }
    }

    /// A thread for each connection.
    fn embedded<S: Script + 'static>(
        &self,
        crew: &mut Crew,
        file: &SqliteFile,
        script: impl Fn(Worker) -> S,
    ) -> Result<()> {
        let execution = self.sql.execution();
        let of = self.job.load.outstanding;
        for number in 0..of {
            let (file, statements) = (file.clone(), Arc::clone(&self.statements));
            let (script, place) = (script(Worker { number, of }), self.place.to_string());
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
    fn over_sockets<C: Connection + 'static, S: Script + 'static>(
        &self,
        crew: &mut Crew,
        server: &Server,
        script: impl Fn(Worker) -> S,
    ) -> Result<()> {
        let threads = spread(
            self.job.load.outstanding,
            CONNECTIONS_PER_THREAD,
            machine::cores_usable(),
        );
        let of = threads.len();
        for (number, connections) in threads.into_iter().enumerate() {
            let script = script(Worker { number, of });
            let recipe = Recipe {
                server: server.clone(),
                place: self.place.to_string(),
                statements: Arc::clone(&self.statements),
                execution: self.sql.execution(),
            };
            // Who has to start on time must not wait for others.
            let closed = self.job.load.rate_per_s.is_none();
            crew.start(self.sender, move || {
                if closed {
                    machine::wake_without_preempting();
                }
                Socket::<C, _>::open(recipe, connections, script)
            })?;
        }
        Ok(())
    }
}
