//! The parameters of TPC-C.
//!
//! In: JSON. Out: plain data, checked. Read by `workload::sql::tpcc`.

use serde::{Deserialize, Serialize};

use super::Load;
use super::check::{refuse, within};
use super::sql::yes;
use crate::db::database::Database;
use crate::error::Result;

/// The kinds of transactions, in the order of the parameter `mix`.
pub const KINDS: [&str; 5] = [
    "new_order",
    "payment",
    "order_status",
    "delivery",
    "stock_level",
];

const MAX_WAREHOUSES: u32 = 10_000;
const MAX_PARTITIONS: u32 = 1024;
const MAX_CARDS: u32 = 10_000;

/// TPC-C, revision 5.11.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tpcc {
    pub database: Database,
    #[serde(default = "ten")]
    pub warehouses: u32,
    /// The tables have the foreign keys of the specification.
    #[serde(default)]
    pub foreign_keys: bool,
    /// Into how many partitions, by warehouse, each table is divided; 0 for none.
    #[serde(default)]
    pub partitions: u32,
    /// The cards of each kind of transaction in the deck that they are dealt from: New-Order,
    /// Payment, Order-Status, Delivery, Stock-Level.
    #[serde(default = "deck")]
    pub mix: [u32; 5],
    #[serde(default)]
    pub home: Home,
    /// Terminals type and think, each for the times of its transaction; else the next one starts at
    /// once.
    #[serde(default)]
    pub think: bool,
    /// Statements are prepared once on each connection; else sent as text.
    #[serde(default = "yes")]
    pub prepared: bool,
}

/// The time between two transactions of a terminal: constant, and a thought of exponential length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pause {
    pub keying_s: f64,
    pub mean_think_s: f64,
}

impl Pause {
    pub fn mean_s(&self) -> f64 {
        self.keying_s + self.mean_think_s
    }
}

/// By kind (clause 5.2.5.7).
const PAUSES_S: [(f64, f64); 5] = [
    (18.0, 12.0),
    (3.0, 12.0),
    (2.0, 10.0),
    (2.0, 5.0),
    (2.0, 5.0),
];

/// The warehouse that a connection works for, and the district of its Stock-Level transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// One for each connection, as the specification has it.
    Fixed,
    /// Drawn for each transaction, as tpcc-mysql does.
    #[default]
    Random,
}

impl Tpcc {
    /// By kind of transaction, where terminals pause.
    pub fn pauses(&self) -> Option<Vec<Pause>> {
        let pause = |(keying_s, mean_think_s)| Pause {
            keying_s,
            mean_think_s,
        };
        self.think.then(|| PAUSES_S.map(pause).to_vec())
    }

    pub(super) fn check(&self, load: &Load) -> Result<()> {
        if self.think && load.rate_per_s.is_some() {
            return refuse("workload.think and load.rate_per_s exclude each other".to_string());
        }
        within(
            "workload.warehouses",
            f64::from(self.warehouses),
            1.0..=f64::from(MAX_WAREHOUSES),
        )?;
        let cards = self
            .mix
            .iter()
            .try_fold(0u32, |sum, &cards| sum.checked_add(cards));
        if !cards.is_some_and(|cards| (1..=MAX_CARDS).contains(&cards)) {
            return refuse(format!(
                "workload.mix must have 1 to {MAX_CARDS} cards, such as [45, 43, 4, 4, 4]"
            ));
        }
        within(
            "workload.partitions",
            f64::from(self.partitions),
            0.0..=f64::from(MAX_PARTITIONS),
        )?;
        let (has_keys, has_partitions) = (self.foreign_keys, self.partitions > 0);
        match self.database {
            Database::Sqlite(_) if has_keys => {
                refuse("workload.foreign_keys needs a server".into())
            }
            Database::Sqlite(_) if has_partitions => {
                refuse("workload.partitions needs a server".into())
            }
            Database::Mysql(_) if has_keys && has_partitions => {
                refuse("workload.partitions and foreign_keys exclude each other on MySQL".into())
            }
            _ => Ok(()),
        }
    }
}

fn ten() -> u32 {
    10
}

fn deck() -> [u32; 5] {
    [45, 43, 4, 4, 4]
}
