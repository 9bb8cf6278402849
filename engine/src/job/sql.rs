//! The parameters of work on databases: the database, the statements, and the rows.
//!
//! In: JSON. Out: plain data, checked. Read by `workload::sql`.

use serde::{Deserialize, Serialize};

use super::check::{refuse, within};
use super::sqlmix::SqlMix;
use super::tpcc::{self, Tpcc};
use super::{Job, JobPhase};
use crate::db::Execution;
use crate::db::database::Database;
use crate::error::Result;

const MAX_TABLES: u32 = 10_000;
const MAX_ROWS: u64 = 1 << 31;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Sql {
    Oltp(Oltp),
    SqlMix(SqlMix),
    Tpcc(Tpcc),
}

/// sysbench's OLTP: its tables, its statements, its mixes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oltp {
    pub database: Database,
    pub mix: OltpMix,
    #[serde(default = "default_count")]
    pub tables: u32,
    /// Rows of each table.
    #[serde(default = "ten_thousand")]
    pub table_size: u64,
    /// Rows that a range query reads.
    #[serde(default = "hundred")]
    pub range_size: u64,
    #[serde(default = "ten")]
    pub point_selects: u32,
    #[serde(default = "default_count")]
    pub simple_ranges: u32,
    #[serde(default = "default_count")]
    pub sum_ranges: u32,
    #[serde(default = "default_count")]
    pub order_ranges: u32,
    #[serde(default = "default_count")]
    pub distinct_ranges: u32,
    #[serde(default = "default_count")]
    pub index_updates: u32,
    #[serde(default = "default_count")]
    pub non_index_updates: u32,
    #[serde(default = "default_count")]
    pub delete_inserts: u32,
    /// Each statement is a separate transaction.
    #[serde(default)]
    pub skip_trx: bool,
    /// A secondary index instead of the primary key.
    #[serde(default)]
    pub secondary: bool,
    #[serde(default)]
    pub distribution: RowDistribution,
    #[serde(default = "zipf_exponent")]
    pub zipf_exponent: f64,
    #[serde(default = "pareto_h")]
    pub pareto_h: f64,
    /// Statements are prepared once on each connection; else sent as text.
    #[serde(default = "yes")]
    pub prepared: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OltpMix {
    PointSelect,
    ReadOnly,
    WriteOnly,
    ReadWrite,
    Insert,
    UpdateIndex,
    UpdateNonIndex,
    Delete,
}

impl OltpMix {
    pub fn writes(self) -> bool {
        !matches!(self, OltpMix::PointSelect | OltpMix::ReadOnly)
    }

    /// Whether it is a transaction of several statements.
    pub fn has_transaction(self) -> bool {
        matches!(
            self,
            OltpMix::ReadOnly | OltpMix::WriteOnly | OltpMix::ReadWrite
        )
    }
}

/// The distribution of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowDistribution {
    Uniform,
    /// sysbench's default: three of four requests go to a hundredth of the rows, in the middle.
    #[default]
    Special,
    Pareto,
    Zipf,
}

impl Sql {
    pub fn database(&self) -> &Database {
        match self {
            Sql::Oltp(oltp) => &oltp.database,
            Sql::SqlMix(mix) => &mix.database,
            Sql::Tpcc(tpcc) => &tpcc.database,
        }
    }

    /// The names of the kinds of transactions that are reported separately.
    pub fn kinds(&self) -> &'static [&'static str] {
        match self {
            Sql::Oltp(_) | Sql::SqlMix(_) => &[],
            Sql::Tpcc(_) => &tpcc::KINDS,
        }
    }

    pub fn execution(&self) -> Execution {
        let prepared = match self {
            Sql::Oltp(oltp) => oltp.prepared,
            Sql::SqlMix(mix) => mix.prepared,
            Sql::Tpcc(tpcc) => tpcc.prepared,
        };
        if prepared {
            Execution::Prepared
        } else {
            Execution::Text
        }
    }

    pub(super) fn check(&self, job: &Job) -> Result<()> {
        if job.phase == JobPhase::Verify && !matches!(self, Sql::Tpcc(_)) {
            return refuse("only data of files and of TPC-C can be verified".to_string());
        }
        job.load.check(1)?;
        check_database(self.database())?;
        match self {
            Sql::Oltp(oltp) => oltp.check(),
            Sql::SqlMix(mix) => mix.check(),
            Sql::Tpcc(tpcc) => tpcc.check(&job.load),
        }
    }
}

fn check_database(database: &Database) -> Result<()> {
    match database {
        Database::Sqlite(file) => {
            if !file.path.is_absolute() {
                return refuse(format!(
                    "workload.database.path is `{}`; it must be an absolute path",
                    file.path.display()
                ));
            }
            let is_word = |text: &str| {
                !text.is_empty()
                    && text
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            };
            for (name, value) in &file.pragmas {
                if !is_word(name) || !is_word(value) {
                    return refuse(format!(
                        "workload.database.pragmas: `{name} = {value}` must be a name and a word or a number"
                    ));
                }
            }
            Ok(())
        }
        Database::Mysql(server) | Database::Postgres(server) => {
            within(
                "workload.database.timeout_s",
                server.timeout_s,
                0.001..=86_400.0,
            )?;
            within(
                "workload.database.outage_s",
                server.outage_s,
                0.0..=86_400.0,
            )?;
            if server.socket.is_some() && server.host.is_some() {
                return refuse("workload.database must have either `socket` or `host`".to_string());
            }
            Ok(())
        }
    }
}

impl Oltp {
    fn check(&self) -> Result<()> {
        within(
            "workload.tables",
            f64::from(self.tables),
            1.0..=f64::from(MAX_TABLES),
        )?;
        within(
            "workload.table_size",
            self.table_size as f64,
            1.0..=MAX_ROWS as f64,
        )?;
        within("workload.range_size", self.range_size as f64, 1.0..=1e6)?;
        within("workload.zipf_exponent", self.zipf_exponent, 0.01..=10.0)?;
        within("workload.pareto_h", self.pareto_h, 0.001..=0.5)?;
        let counts = [
            self.point_selects,
            self.simple_ranges,
            self.sum_ranges,
            self.order_ranges,
            self.distinct_ranges,
            self.index_updates,
            self.non_index_updates,
            self.delete_inserts,
        ];
        if let Some(count) = counts.into_iter().find(|&count| count > 10_000) {
            return refuse(format!(
                "{count} statements of one kind in a transaction are more than 10000"
            ));
        }
        Ok(())
    }
}

fn default_count() -> u32 {
    1
}
fn ten() -> u32 {
    10
}
fn hundred() -> u64 {
    100
}
fn ten_thousand() -> u64 {
    10_000
}
pub(super) fn zipf_exponent() -> f64 {
    0.8
}
pub(super) fn pareto_h() -> f64 {
    0.2
}
pub(super) fn yes() -> bool {
    true
}
