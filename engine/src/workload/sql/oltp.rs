//! sysbench's OLTP mixes: the statements, and the draws of each transaction.
//!
//! In: the job's parameters. Out: the statements to prepare, and a script. Called by `spawn`.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::{RowNumbers, write_c, write_pad};
use super::schema::{Dialect, table};
use super::transaction::{BEGIN, BEGIN_TO_WRITE, COMMIT, Script, Transaction, framing};
use crate::db::statement::{Kind, Statement};
use crate::job::sql::{Mix, Oltp};
use crate::workload::fileio::distribution::below;

const FIRST_OF_TABLES: usize = 4;

/// The statements on one table, by position in the table's part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
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
    let kinds = kinds(oltp);
    for number in 1..=oltp.tables {
        for &on in &kinds {
            let (kind, sql) = text(on, &table(number), dialect);
            list.push(Statement::new(kind, &sql));
        }
    }
    list
}

fn text(on: On, table: &str, dialect: Dialect) -> (Kind, String) {
    let range = format!("FROM {table} WHERE id BETWEEN ? AND ?");
    match on {
        On::Point => (Kind::Read, format!("SELECT c FROM {table} WHERE id=?")),
        On::SimpleRange => (Kind::Read, format!("SELECT c {range}")),
        On::SumRange => (Kind::Read, format!("SELECT SUM(k) {range}")),
        On::OrderRange => (Kind::Read, format!("SELECT c {range} ORDER BY c")),
        On::DistinctRange => (Kind::Read, format!("SELECT DISTINCT c {range} ORDER BY c")),
        On::IndexUpdate => (Kind::Write, format!("UPDATE {table} SET k=k+1 WHERE id=?")),
        On::NonIndexUpdate => (Kind::Write, format!("UPDATE {table} SET c=? WHERE id=?")),
        On::Delete => (Kind::Write, format!("DELETE FROM {table} WHERE id=?")),
        On::Insert => (
            Kind::Write,
            format!("INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
        ),
        On::InsertNext if dialect == Dialect::Mysql => (
            Kind::Write,
            format!("INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)"),
        ),
        On::InsertNext => (
            Kind::Write,
            format!("INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)"),
        ),
    }
}

/// The operations of a transaction and their counts, in order; delete and insert go together.
fn counts(oltp: &Oltp) -> Vec<(On, u32)> {
    let reads = [
        (On::Point, oltp.point_selects),
        (On::SimpleRange, oltp.simple_ranges),
        (On::SumRange, oltp.sum_ranges),
        (On::OrderRange, oltp.order_ranges),
        (On::DistinctRange, oltp.distinct_ranges),
    ];
    let writes = [
        (On::IndexUpdate, oltp.index_updates),
        (On::NonIndexUpdate, oltp.non_index_updates),
        (On::Delete, oltp.delete_inserts),
    ];
    let counts = match oltp.mix {
        Mix::PointSelect => vec![(On::Point, 1)],
        Mix::ReadOnly => reads.to_vec(),
        Mix::WriteOnly => writes.to_vec(),
        Mix::ReadWrite => reads.iter().chain(&writes).copied().collect(),
        Mix::Insert => vec![(On::InsertNext, 1)],
        Mix::UpdateIndex => vec![(On::IndexUpdate, 1)],
        Mix::UpdateNonIndex => vec![(On::NonIndexUpdate, 1)],
        Mix::Delete => vec![(On::Delete, 1)],
    };
    counts.into_iter().filter(|&(_, count)| count > 0).collect()
}

fn kinds(oltp: &Oltp) -> Vec<On> {
    let mut kinds: Vec<On> = counts(oltp).into_iter().map(|(on, _)| on).collect();
    if oltp.mix.has_transaction() && kinds.contains(&On::Delete) {
        kinds.push(On::Insert);
    }
    kinds
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
    counts: Vec<(On, u32, usize)>,
    /// The position of the statement that inserts a deleted row again.
    insert: Option<usize>,
    per_table: usize,
}

impl OltpScript {
    pub fn new(oltp: &Oltp, rng: Xoshiro256PlusPlus) -> OltpScript {
        let kinds = kinds(oltp);
        let begin = if oltp.mix.writes() {
            BEGIN_TO_WRITE
        } else {
            BEGIN
        };
        let place = |on| kinds.iter().position(|&kind| kind == on).unwrap_or(0);
        OltpScript {
            rng,
            rows: RowNumbers::of(oltp),
            tables: u64::from(oltp.tables),
            table_size: oltp.table_size,
            range_size: oltp.range_size,
            begin: (oltp.mix.has_transaction() && !oltp.skip_trx).then_some(begin),
            counts: counts(oltp)
                .into_iter()
                .map(|(on, count)| (on, count, place(on)))
                .collect(),
            insert: kinds.iter().position(|&kind| kind == On::Insert),
            per_table: kinds.len(),
        }
    }

    fn draw_one(&mut self, on: On, statement: usize, first: usize, transaction: &mut Transaction) {
        let (rng, arguments) = (&mut self.rng, &mut transaction.arguments);
        let row = self.rows.draw(rng);
        match on {
            On::Point | On::IndexUpdate => arguments.int(row as i64),
            On::SimpleRange | On::SumRange | On::OrderRange | On::DistinctRange => {
                arguments.int(row as i64);
                arguments.int((row + self.range_size - 1) as i64);
            }
            On::NonIndexUpdate => {
                arguments.text(|text| write_c(text, rng));
                arguments.int(row as i64);
            }
            On::Delete => {
                arguments.int(row as i64);
                if let Some(insert) = self.insert {
                    transaction.step(statement);
                    return self.draw_insert(row, first + insert, transaction);
                }
            }
            On::Insert => {}
            On::InsertNext => {
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
    fn draw(&mut self, transaction: &mut Transaction) {
        if let Some(begin) = self.begin {
            transaction.step(begin);
        }
        for place in 0..self.counts.len() {
            let (on, count, within) = self.counts[place];
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
