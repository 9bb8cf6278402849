//! Spawning the workers of a database load: their connections and threads.
//!
//! In: a job. Out: the workers of a load. Called by `workload::shared`.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::embedded::Embedded;
use super::mix::{self, MixScript};
use super::oltp::{self, OltpScript};
use super::schema::Dialect;
use super::shared::SqlShared;
use super::socket::{Recipe, Socket};
use super::tpcc::{self, ledger::OrderLedger, script::TpccScript};
use super::transaction::{Script, TransactionWorker};
use crate::db::database::{Database, SqliteFile};
use crate::db::server::Server;
use crate::db::statement::Statement;
use crate::db::{Connection, mysql, postgres, sqlite};
use crate::error::Result;
use crate::job::Job;
use crate::job::sql::Sql;
use crate::load::inbox::Message;
use crate::load::workers::Workers;
use crate::machine;
use crate::random::generator;
use crate::workload::fileio::spawn::spread;

/// Up to this many connections for each core, every core has a thread with its connections. The
/// server's thread then answers on the core that asked, and neither waits for the other core.
const FEW_PER_CORE: usize = 2;

/// Beyond that, one thread for so many cores has most statements ready for the server: it takes a
/// third of the time that the server needs for a statement, or less.
const CORES_PER_THREAD: usize = 4;

/// So many connections at most have one thread.
const CONNECTIONS_PER_THREAD: usize = 256;

pub fn spawn(
    workers: &mut Workers,
    job: &Job,
    sql: &Sql,
    shared: &SqlShared,
    sender: &Sender<Message>,
) -> Result<()> {
    workers.begin_stream();
    let dialect = Dialect::of(sql.database());
    let statements = match sql {
        Sql::Oltp(oltp) => oltp::statements(oltp, dialect),
        Sql::SqlMix(mix) => mix::statements(mix, dialect),
        Sql::Tpcc(_) => tpcc::statements::statements(dialect),
    };
    let spawning = Spawner {
        job,
        sql,
        statements: Arc::new(statements),
        address: &shared.address,
        sender,
    };
    match sql {
        Sql::Oltp(oltp) => spawning.spawn(workers, |worker| {
            OltpScript::new(oltp, generator(job.seed, worker.generator()))
        }),
        Sql::SqlMix(mix) => spawning.spawn(workers, |worker| {
            MixScript::new(mix, job.seed, shared.run, worker)
        }),
        Sql::Tpcc(tpcc) => {
            let ledger = Arc::new(OrderLedger::new(tpcc.database.clone()));
            spawning.spawn(workers, |worker| {
                TpccScript::new(tpcc, job.seed, worker, Arc::clone(&ledger))
            })
        }
    }
}

struct Spawner<'a> {
    job: &'a Job,
    sql: &'a Sql,
    statements: Arc<Vec<Statement>>,
    address: &'a str,
    sender: &'a Sender<Message>,
}

impl Spawner<'_> {
    fn worker(&self, number: usize, of: usize) -> TransactionWorker {
        TransactionWorker {
            number,
            of,
            first_connection: self.job.load.first_connection,
        }
    }

    /// `script` draws the transactions of a worker.
    fn spawn<S: Script + 'static>(
        &self,
        workers: &mut Workers,
        script: impl Fn(TransactionWorker) -> S,
    ) -> Result<()> {
        match self.sql.database() {
            Database::Sqlite(file) => self.embedded(workers, file, script),
            Database::Mysql(server) => {
                self.over_sockets::<mysql::MySqlConnection, S>(workers, server, script)
            }
            Database::Postgres(server) => {
                self.over_sockets::<postgres::PostgresConnection, S>(workers, server, script)
            }
        }
    }

    /// A thread for each connection.
    fn embedded<S: Script + 'static>(
        &self,
        workers: &mut Workers,
        file: &SqliteFile,
        script: impl Fn(TransactionWorker) -> S,
    ) -> Result<()> {
        let execution = self.sql.execution();
        let of = self.job.load.outstanding;
        for number in 0..of {
            let (file, statements) = (file.clone(), Arc::clone(&self.statements));
            let (script, address) = (script(self.worker(number, of)), self.address.to_string());
            workers.start(self.sender, move || {
                let connection =
                    sqlite::SqliteConnection::open(&file, &statements, execution, false)
                        .map_err(|error| error.at(&address))?;
                let kinds = statements.iter().map(|statement| statement.kind).collect();
                Ok(Embedded::new(connection, address, script, kinds))
            })?;
        }
        Ok(())
    }

    /// Few threads for all connections.
    fn over_sockets<C: Connection + 'static, S: Script + 'static>(
        &self,
        workers: &mut Workers,
        server: &Server,
        script: impl Fn(TransactionWorker) -> S,
    ) -> Result<()> {
        // A worker that has to start operations on time must not wait for others.
        let closed = self.job.load.rate_per_s.is_none();
        let sharing = Sharing::of(self.job.load.outstanding, machine::cores_usable(), closed);
        let (threads, yields) = (sharing.threads, sharing.yields);
        let of = threads.len();
        for (number, connections) in threads.into_iter().enumerate() {
            let script = script(self.worker(number, of));
            let recipe = Recipe {
                server: server.clone(),
                address: self.address.to_string(),
                statements: Arc::clone(&self.statements),
                execution: self.sql.execution(),
            };
            workers.start(self.sender, move || {
                if yields {
                    machine::wake_without_preempting();
                }
                Socket::<C, _>::open(recipe, connections, script)
            })?;
        }
        Ok(())
    }
}

/// How connections are shared out to threads.
#[derive(Debug, PartialEq)]
struct Sharing {
    /// The connections of each thread.
    threads: Vec<usize>,
    /// Whether the server's threads go first when an answer wakes up a thread of the load.
    yields: bool,
}

impl Sharing {
    fn of(connections: usize, cores: usize, closed: bool) -> Sharing {
        if closed && connections <= FEW_PER_CORE * cores {
            return Sharing {
                threads: spread(connections, 1, cores),
                yields: false,
            };
        }
        let fewest = cores.div_ceil(CORES_PER_THREAD);
        let each = connections.div_ceil(fewest).min(CONNECTIONS_PER_THREAD);
        Sharing {
            threads: spread(connections, each, cores),
            yields: closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_connections_have_a_thread_on_every_core_and_many_have_few_threads() {
        let threads = |connections, cores, closed| {
            let sharing = Sharing::of(connections, cores, closed);
            (sharing.threads, sharing.yields)
        };
        assert_eq!(threads(1, 2, true), (vec![1], false));
        assert_eq!(threads(3, 2, true), (vec![2, 1], false));
        assert_eq!(threads(5, 2, true), (vec![5], true));
        assert_eq!(threads(512, 2, true), (vec![256, 256], true));
        assert_eq!(threads(64, 16, true), (vec![16; 4], true));
        assert_eq!(threads(3, 2, false), (vec![3], false));
    }
}
