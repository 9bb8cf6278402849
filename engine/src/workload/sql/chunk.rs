//! Rows of a table, and the fastest way to load them into each kind of database.
//!
//! In: lines of columns separated by tabs, with `\N` for null; no cell has a quote or a backslash.
//! Out: rows. Called by the loaders of tables.

use super::loaders::unsafe_but_fast;
use crate::db::argument::{ArgumentList, Arguments};
use crate::db::database::Database;
use crate::db::error::DbResult;
use crate::db::statement::{Statement, StatementKind};
use crate::db::{Connection, Execution, mysql, postgres, sqlite};

const NULL: &str = "\\N";
/// Of one INSERT, where the server accepts no rows in bulk.
const ROWS_OF_AN_INSERT: usize = 1_000;

/// Rows of one table, with all of its columns in their order.
pub struct Chunk {
    pub name: String,
    pub columns: String,
    pub rows: u64,
    pub lines: String,
}

/// A connection that loads chunks.
pub enum ChunkLoader {
    /// With the tables that it can load, and memory for a row.
    Sqlite(Box<sqlite::SqliteConnection>, Vec<String>, ArgumentList),
    Postgres(Box<postgres::PostgresConnection>),
    /// Whether the connection accepts rows in bulk.
    Mysql(Box<mysql::MySqlConnection>, bool),
}

impl ChunkLoader {
    /// Connects, to load tables of these names and numbers of columns.
    pub fn open(database: &Database, tables: &[(String, usize)]) -> DbResult<ChunkLoader> {
        let file = match database {
            Database::Sqlite(file) => file,
            Database::Mysql(server) => {
                let connection = Connection::open(server, &[], Execution::Text)?;
                return Ok(ChunkLoader::Mysql(Box::new(connection), true));
            }
            Database::Postgres(server) => {
                let connection = Connection::open(server, &[], Execution::Text)?;
                return Ok(ChunkLoader::Postgres(Box::new(connection)));
            }
        };
        let mut statements = vec![
            Statement::new(StatementKind::Other, "BEGIN"),
            Statement::new(StatementKind::Other, "COMMIT"),
        ];
        statements.extend(tables.iter().map(|(name, columns)| {
            let marks = vec!["?"; *columns].join(", ");
            let sql = format!("INSERT INTO {name} VALUES ({marks})");
            Statement::new(StatementKind::Write, &sql)
        }));
        let connection = sqlite::SqliteConnection::open(
            &unsafe_but_fast(file),
            &statements,
            Execution::Prepared,
            false,
        )?;
        Ok(ChunkLoader::Sqlite(
            Box::new(connection),
            tables.iter().map(|(name, _)| name.clone()).collect(),
            ArgumentList::default(),
        ))
    }

    pub fn load(&mut self, chunk: &Chunk) -> DbResult<()> {
        let Chunk { name, columns, .. } = chunk;
        match self {
            ChunkLoader::Postgres(connection) => {
                let mut lines = Some(chunk.lines.as_bytes());
                let sql = format!("COPY {name} ({columns}) FROM STDIN");
                let next = &mut |data: &mut Vec<u8>| {
                    let bytes = lines.take();
                    data.extend_from_slice(bytes.unwrap_or_default());
                    bytes.is_some()
                };
                connection.copy_in(&sql, next).map(drop)
            }
            ChunkLoader::Mysql(connection, in_bulk) => {
                if *in_bulk {
                    let into = format!("{name} CHARACTER SET binary ({columns})");
                    *in_bulk = connection.load_data(&into, chunk.lines.as_bytes(), chunk.rows)?;
                }
                if !*in_bulk {
                    for insert in inserts(chunk) {
                        connection.query(&insert)?;
                    }
                }
                Ok(())
            }
            ChunkLoader::Sqlite(connection, tables, list) => {
                let place = tables.iter().position(|table| table == name);
                let statement = 2 + place.unwrap_or_default();
                connection.execute(0, Arguments::NONE)?;
                for line in chunk.lines.lines() {
                    list.clear();
                    for cell in line.split('\t') {
                        match cell {
                            NULL => list.null(),
                            cell => list.text(|text| text.push_str(cell)),
                        }
                    }
                    connection.execute(statement, list.range(0..list.len()))?;
                }
                connection.execute(1, Arguments::NONE).map(drop)
            }
        }
    }
}

/// Statements that insert a chunk; no cell has a quote or a backslash.
fn inserts(chunk: &Chunk) -> Vec<String> {
    let head = format!("INSERT INTO {} VALUES ", chunk.name);
    let lines: Vec<&str> = chunk.lines.lines().collect();
    let tuple = |line: &&str| {
        let cells: Vec<String> = line
            .split('\t')
            .map(|cell| match cell {
                NULL => "NULL".to_string(),
                cell => format!("'{cell}'"),
            })
            .collect();
        format!("({})", cells.join(","))
    };
    lines
        .chunks(ROWS_OF_AN_INSERT)
        .map(|part| {
            let tuples: Vec<String> = part.iter().map(tuple).collect();
            format!("{head}{}", tuples.join(","))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_have_all_rows_and_nulls() {
        let chunk = Chunk {
            name: "new_orders".to_string(),
            columns: "no_o_id, no_d_id, no_w_id".to_string(),
            rows: 1_500,
            lines: "1\t2\t\\N\n".repeat(1_500),
        };
        let statements = inserts(&chunk);
        assert_eq!(statements.len(), 2);
        assert!(statements[0].starts_with("INSERT INTO new_orders VALUES ('1','2',NULL),('1'"));
        assert_eq!(statements[1].matches("NULL").count(), 500);
    }
}
