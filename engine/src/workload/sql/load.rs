//! Filling tables with rows, in pieces that follow from the seed alone.
//!
//! In: empty tables. Out: rows. Called by `prepare`.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::rows::{RowNumbers, write_c, write_pad};
use super::schema::{create_index, table};
use crate::db::argument::{ArgumentList, Arguments};
use crate::db::database::{Database, SqliteFile};
use crate::db::error::{DbError, DbResult};
use crate::db::session::Session;
use crate::db::statement::{Statement, StatementKind};
use crate::db::{Connection, Execution, mysql, postgres, sqlite};
use crate::job::sql::Oltp;
use crate::load::stop::OnRequest;
use crate::machine;
use crate::random::generator;

/// Rows of a piece: about a megabyte.
const PIECE: u64 = 5_000;
/// More threads would only wait for each other.
const MOST_LOADERS: usize = 8;
const GLANCE: Duration = Duration::from_millis(50);

/// Rows of one table, from `first` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    table: u32,
    first: u64,
    end: u64,
    seed: u64,
}

/// The pieces of all tables, by number. Neighbours belong to different tables, so that concurrent
/// loaders do not block each other.
fn piece(oltp: &Oltp, seed: u64, number: u64) -> Option<Piece> {
    let tables = u64::from(oltp.tables);
    let (table, within) = (1 + number % tables, number / tables);
    (within * PIECE < oltp.table_size).then(|| Piece {
        table: table as u32,
        first: 1 + within * PIECE,
        end: 1 + ((within + 1) * PIECE).min(oltp.table_size),
        seed: seed.wrapping_add(number << 32),
    })
}

impl Piece {
    /// Calls `row` with the number, `k`, `c` and `pad` of each row.
    fn rows(&self, oltp: &Oltp, mut row: impl FnMut(u64, u64, &str, &str)) {
        let mut rng = generator(self.seed, u64::from(self.table));
        let numbers = RowNumbers::of(oltp);
        let (mut c, mut pad) = (String::new(), String::new());
        for id in self.first..self.end {
            c.clear();
            pad.clear();
            let k = numbers.draw(&mut rng);
            write_c(&mut c, &mut rng);
            write_pad(&mut pad, &mut rng);
            row(id, k, &c, &pad);
        }
    }

    /// The whole piece in the format of `COPY` and `LOAD DATA`.
    fn lines(&self, oltp: &Oltp) -> Vec<u8> {
        let mut text = String::with_capacity((self.end - self.first) as usize * 210);
        self.rows(oltp, |id, k, c, pad| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{id}\t{k}\t{c}\t{pad}");
        });
        text.into_bytes()
    }

    /// One statement that inserts the whole piece.
    fn insert(&self, oltp: &Oltp) -> String {
        let head = format!("INSERT INTO {} (id, k, c, pad) VALUES", table(self.table));
        let mut sql = String::with_capacity(head.len() + (self.end - self.first) as usize * 210);
        sql.push_str(&head);
        self.rows(oltp, |id, k, c, pad| {
            let comma = if id == self.first { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(sql, "{comma} ({id},{k},'{c}','{pad}')");
        });
        sql
    }
}

/// Fills all tables, then creates their indexes. Calls `report_rows` with the number of loaded rows.
/// Returns false where it was stopped.
pub fn load(
    oltp: &Oltp,
    seed: u64,
    stop: &OnRequest,
    report_rows: &impl Fn(u64),
) -> DbResult<bool> {
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut loaded = share_out(
        oltp,
        stop,
        &|| report_rows(done.load(Ordering::Relaxed)),
        &|halt| {
            let mut loader = Loader::open(oltp)?;
            while !halt.load(Ordering::Relaxed)
                && let Some(piece) = piece(oltp, seed, next.fetch_add(1, Ordering::Relaxed))
            {
                loader.load(oltp, &piece)?;
                done.fetch_add(piece.end - piece.first, Ordering::Relaxed);
            }
            Ok(())
        },
    )?;
    let next = AtomicU32::new(1);
    loaded = loaded
        && share_out(oltp, stop, &|| {}, &|halt| {
            let mut session = Session::open(&oltp.database, false)?;
            while !halt.load(Ordering::Relaxed) {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number if number > oltp.tables => break,
                    number => session.query(&create_index(number))?,
                };
            }
            Ok(())
        })?;
    Ok(loaded)
}

/// Runs work on a suitable number of threads. Each takes a part at a time until none is left or a
/// halt is requested. Calls `report_progress` now and then. Returns false where it was stopped.
fn share_out(
    oltp: &Oltp,
    stop: &OnRequest,
    report_progress: &dyn Fn(),
    work: &(dyn Fn(&AtomicBool) -> DbResult<()> + Sync),
) -> DbResult<bool> {
    let halt = AtomicBool::new(false);
    let work = || work(&halt).inspect_err(|_| halt.store(true, Ordering::Relaxed));
    let threads = match oltp.database {
        Database::Sqlite(_) => 1,
        _ => machine::cores_usable().min(MOST_LOADERS),
    };
    thread::scope(|scope| {
        let loader = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (0..threads).map_while(loader).collect();
        if threads.is_empty() {
            return Err(DbError::lost("no thread could be started (ulimit -u)"));
        }
        while !threads.iter().all(|thread| thread.is_finished()) {
            thread::sleep(GLANCE);
            report_progress();
            if stop.is_asked() {
                halt.store(true, Ordering::Relaxed);
            }
        }
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(DbError::protocol("a loader has panicked")))
        })
    })?;
    Ok(!stop.is_asked())
}

enum Loader {
    Sqlite(Box<sqlite::SqliteConnection>, ArgumentList),
    Postgres(Box<postgres::PostgresConnection>),
    /// Whether the connection accepts rows in bulk.
    Mysql(Box<mysql::MySqlConnection>, bool),
}

impl Loader {
    fn open(oltp: &Oltp) -> DbResult<Loader> {
        let file = match &oltp.database {
            Database::Sqlite(file) => file,
            Database::Mysql(server) => {
                let connection = Connection::open(server, &[], Execution::Text)?;
                return Ok(Loader::Mysql(Box::new(connection), true));
            }
            Database::Postgres(server) => {
                let connection = Connection::open(server, &[], Execution::Text)?;
                return Ok(Loader::Postgres(Box::new(connection)));
            }
        };
        let insert = |number| format!("INSERT INTO {} VALUES (?, ?, ?, ?)", table(number));
        let mut statements = vec![Statement::new(StatementKind::Other, "BEGIN")];
        statements.push(Statement::new(StatementKind::Other, "COMMIT"));
        statements.extend(
            (1..=oltp.tables).map(|number| Statement::new(StatementKind::Write, &insert(number))),
        );
        let connection = sqlite::SqliteConnection::open(
            &unsafe_but_fast(file),
            &statements,
            Execution::Prepared,
            false,
        )?;
        Ok(Loader::Sqlite(
            Box::new(connection),
            ArgumentList::default(),
        ))
    }

    fn load(&mut self, oltp: &Oltp, piece: &Piece) -> DbResult<()> {
        match self {
            Loader::Postgres(connection) => {
                let mut rows = Some(piece.lines(oltp));
                let sql = format!("COPY {} (id, k, c, pad) FROM STDIN", table(piece.table));
                let next = &mut |data: &mut Vec<u8>| {
                    let chunk = rows.take();
                    data.extend(chunk.iter().flatten());
                    chunk.is_some()
                };
                connection.copy_in(&sql, next).map(drop)
            }
            Loader::Mysql(connection, in_bulk) => {
                let columns = format!(
                    "{} CHARACTER SET binary (id, k, c, pad)",
                    table(piece.table)
                );
                if *in_bulk {
                    *in_bulk = connection.load_data(
                        &columns,
                        &piece.lines(oltp),
                        piece.end - piece.first,
                    )?;
                }
                if !*in_bulk {
                    connection.query(&piece.insert(oltp))?;
                }
                Ok(())
            }
            Loader::Sqlite(connection, list) => {
                let statement = 1 + piece.table as usize;
                connection.execute(0, Arguments::NONE)?;
                let mut outcome = Ok(());
                piece.rows(oltp, |id, k, c, pad| {
                    if outcome.is_ok() {
                        list.clear();
                        list.int(id as i64);
                        list.int(k as i64);
                        list.text(|text| text.push_str(c));
                        list.text(|text| text.push_str(pad));
                        outcome = connection.execute(statement, list.range(0..4)).map(drop);
                    }
                });
                outcome?;
                connection.execute(1, Arguments::NONE).map(drop)
            }
        }
    }
}

/// Without waiting for the disk: rows lost in a power cut are recreated.
fn unsafe_but_fast(file: &SqliteFile) -> SqliteFile {
    let mut file = file.clone();
    file.pragmas.insert("synchronous".into(), "off".into());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oltp(tables: u32, table_size: u64) -> Oltp {
        let job = serde_json::json!({
            "database": {"driver": "sqlite", "path": "/d"},
            "mix": "read_write", "tables": tables, "table_size": table_size,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn every_row_is_in_exactly_one_piece() {
        let oltp = oltp(3, 12_345);
        let pieces: Vec<Piece> = (0..).map_while(|number| piece(&oltp, 7, number)).collect();
        for table in 1..=3 {
            let of_table = pieces.iter().filter(|piece| piece.table == table);
            let rows: Vec<u64> = of_table.flat_map(|piece| piece.first..piece.end).collect();
            assert_eq!(rows, (1..=12_345).collect::<Vec<_>>());
        }
        let seeds: std::collections::HashSet<u64> = pieces.iter().map(|piece| piece.seed).collect();
        assert_eq!(seeds.len(), pieces.len());
    }

    #[test]
    fn one_statement_has_all_rows_of_a_piece() {
        let oltp = oltp(1, 3);
        let sql = piece(&oltp, 7, 0).unwrap().insert(&oltp);
        assert!(sql.starts_with("INSERT INTO sbtest1 (id, k, c, pad) VALUES (1,"));
        assert_eq!(
            (sql.matches('(').count(), sql.matches("),").count()),
            (4, 2)
        );
    }
}
