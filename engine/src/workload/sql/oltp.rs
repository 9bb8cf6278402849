//! sysbench's OLTP mixes: the statements, and the draws of each transaction.
//!
//! In: the job's parameters. Out: the statements to prepare, and a script. Called by `spawn`.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::{RowNumbers, write_c, write_pad};
use super::schema::{Dialect, table};
use super::transaction::{BEGIN, BEGIN_TO_WRITE, COMMIT, Script, Transaction, framing};
use crate::db::statement::{Statement, StatementKind};
use crate::job::sql::{Oltp, OltpMix};
use crate::workload::fileio::distribution::below;

const FIRST_OF_TABLES: usize = 4;

/// The statements on one table, by position in the table's part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableStatement {
    Point,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    Insert,
    /// With a number assigned by the database.
    InsertNext,
}

/// Every statement of a mix. Its position in the list is its number.
pub fn statements(oltp: &Oltp, dialect: Dialect) -> Vec<Statement> {
    let mut list = framing(dialect);
    let table_statements = table_statements(oltp);
    for number in 1..=oltp.tables {
        for &statement in &table_statements {
            let (kind, sql) = text(statement, &table(number), dialect);
            list.push(Statement::new(kind, &sql));
        }
    }
    list
}

fn text(on: TableStatement, table: &str, dialect: Dialect) -> (StatementKind, String) {
    let range = format!("FROM {table} WHERE id BETWEEN ? AND ?");
    match on {
        TableStatement::Point => (
            StatementKind::Read,
            format!("SELECT c FROM {table} WHERE id=?"),
        ),
        TableStatement::SimpleRange => (StatementKind::Read, format!("SELECT c {range}")),
        TableStatement::SumRange => (StatementKind::Read, format!("SELECT SUM(k) {range}")),
        TableStatement::OrderRange => (StatementKind::Read, format!("SELECT c {range} ORDER BY c")),
        TableStatement::DistinctRange => (
            StatementKind::Read,
            format!("SELECT DISTINCT c {range} ORDER BY c"),
        ),
        TableStatement::IndexUpdate => (
            StatementKind::Write,
            format!("UPDATE {table} SET k=k+1 WHERE id=?"),
        ),
        TableStatement::NonIndexUpdate => (
            StatementKind::Write,
            format!("UPDATE {table} SET c=? WHERE id=?"),
        ),
        TableStatement::Delete => (
            StatementKind::Write,
            format!("DELETE FROM {table} WHERE id=?"),
        ),
        TableStatement::Insert => (
            StatementKind::Write,
            format!("INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
        ),
        TableStatement::InsertNext if dialect == Dialect::Mysql => (
            StatementKind::Write,
            format!("INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)"),
        ),
        TableStatement::InsertNext => (
            StatementKind::Write,
            format!("INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)"),
        ),
    }
}

/// The operations of a transaction and their counts, in order; delete and insert go together.
fn counts(oltp: &Oltp) -> Vec<(TableStatement, u32)> {
    let reads = [
        (TableStatement::Point, oltp.point_selects),
        (TableStatement::SimpleRange, oltp.simple_ranges),
        (TableStatement::SumRange, oltp.sum_ranges),
        (TableStatement::OrderRange, oltp.order_ranges),
        (TableStatement::DistinctRange, oltp.distinct_ranges),
    ];
    let writes = [
        (TableStatement::IndexUpdate, oltp.index_updates),
        (TableStatement::NonIndexUpdate, oltp.non_index_updates),
        (TableStatement::Delete, oltp.delete_inserts),
    ];
    let counts = match oltp.mix {
        OltpMix::PointSelect => vec![(TableStatement::Point, 1)],
        OltpMix::ReadOnly => reads.to_vec(),
        OltpMix::WriteOnly => writes.to_vec(),
        OltpMix::ReadWrite => reads.iter().chain(&writes).copied().collect(),
        OltpMix::Insert => vec![(TableStatement::InsertNext, 1)],
        OltpMix::UpdateIndex => vec![(TableStatement::IndexUpdate, 1)],
        OltpMix::UpdateNonIndex => vec![(TableStatement::NonIndexUpdate, 1)],
        OltpMix::Delete => vec![(TableStatement::Delete, 1)],
    };
    counts.into_iter().filter(|&(_, count)| count > 0).collect()
}

fn table_statements(oltp: &Oltp) -> Vec<TableStatement> {
    let mut table_statements: Vec<TableStatement> =
        counts(oltp).into_iter().map(|(on, _)| on).collect();
    if oltp.mix.has_transaction() && table_statements.contains(&TableStatement::Delete) {
        table_statements.push(TableStatement::Insert);
    }
    table_statements
}

/// Draws the transactions of one worker.
pub struct OltpScript {
    rng: Xoshiro256PlusPlus,
    rows: RowNumbers,
    tables: u64,
    table_size: u64,
    range_size: u64,
    /// The statement that begins a transaction; `None` where each statement is committed by itself.
    begin: Option<usize>,
    /// The operation, its count, and the position of its statement within those of a table.
    counts: Vec<(TableStatement, u32, usize)>,
    /// The position of the statement that inserts a deleted row again.
    insert: Option<usize>,
    per_table: usize,
}

impl OltpScript {
    pub fn new(oltp: &Oltp, rng: Xoshiro256PlusPlus) -> OltpScript {
        let table_statements = table_statements(oltp);
        let begin = if oltp.mix.writes() {
            BEGIN_TO_WRITE
        } else {
            BEGIN
        };
        let position = |on| {
            table_statements
                .iter()
                .position(|&kind| kind == on)
                .unwrap_or(0)
        };
        OltpScript {
            rng,
            rows: RowNumbers::of(oltp),
            tables: u64::from(oltp.tables),
            table_size: oltp.table_size,
            range_size: oltp.range_size,
            begin: (oltp.mix.has_transaction() && !oltp.skip_trx).then_some(begin),
            counts: counts(oltp)
                .into_iter()
                .map(|(on, count)| (on, count, position(on)))
                .collect(),
            insert: table_statements
                .iter()
                .position(|&kind| kind == TableStatement::Insert),
            per_table: table_statements.len(),
        }
    }

    fn draw_one(
        &mut self,
        on: TableStatement,
        statement: usize,
        first: usize,
        transaction: &mut Transaction,
    ) {
        let (rng, arguments) = (&mut self.rng, &mut transaction.arguments);
        let row = self.rows.draw(rng);
        match on {
            TableStatement::Point | TableStatement::IndexUpdate => arguments.int(row as i64),
            TableStatement::SimpleRange
            | TableStatement::SumRange
            | TableStatement::OrderRange
            | TableStatement::DistinctRange => {
                arguments.int(row as i64);
                arguments.int((row + self.range_size - 1) as i64);
            }
            TableStatement::NonIndexUpdate => {
                arguments.text(|text| write_c(text, rng));
                arguments.int(row as i64);
            }
            TableStatement::Delete => {
                arguments.int(row as i64);
                if let Some(insert) = self.insert {
                    transaction.step(statement);
                    return self.draw_insert(row, first + insert, transaction);
                }
            }
            TableStatement::Insert => {}
            TableStatement::InsertNext => {
                arguments.int(row as i64);
                arguments.text(|text| write_c(text, rng));
                arguments.text(|text| write_pad(text, rng));
            }
        }
        transaction.step(statement);
    }

    /// The deleted row, with other content.
    fn draw_insert(&mut self, row: u64, statement: usize, transaction: &mut Transaction) {
        let (rng, arguments) = (&mut self.rng, &mut transaction.arguments);
        arguments.int(row as i64);
        arguments.int(self.rows.draw(rng).min(self.table_size) as i64);
        arguments.text(|text| write_c(text, rng));
        arguments.text(|text| write_pad(text, rng));
        transaction.step(statement);
    }
}

impl Script for OltpScript {
    type State = ();

    fn draw(&mut self, transaction: &mut Transaction, _state: &mut ()) {
        if let Some(begin) = self.begin {
            transaction.step(begin);
        }
        for index in 0..self.counts.len() {
            let (on, count, within) = self.counts[index];
            // As in sysbench, repetitions of an operation use one table.
            let number = below(self.tables, &mut self.rng) as usize;
            let first = FIRST_OF_TABLES + number * self.per_table;
            for _ in 0..count {
                self.draw_one(on, first + within, first, transaction);
            }
        }
        if self.begin.is_some() {
            transaction.step(COMMIT);
        }
    }
}
