//! The New-Orders that a server has acknowledged, compared with those that it has after a crash.
//!
//! In: orders whose commit was answered; a server that is back. Out: how many of them it has lost.
//! Shared by the workers of a load; called by `script` and `new_order`.
//!
//! A district gives its orders numbers in sequence, under the lock of its row. So an acknowledged
//! order is lost where the district would give out its number, or a smaller one, again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Terminal;
use crate::db::database::Database;
use crate::db::error::{DbError, DbResult};
use crate::db::session::Session;
use crate::error::Result;

const NEXT_ORDERS: &str = "SELECT d_w_id, d_id, d_next_o_id FROM district";
const BITS: i64 = u64::BITS as i64;

pub struct OrderLedger {
    database: Database,
    districts: Mutex<HashMap<Terminal, Orders>>,
}

impl OrderLedger {
    /// An empty one, for a load on this database.
    pub fn new(database: Database) -> OrderLedger {
        OrderLedger {
            database,
            districts: Mutex::default(),
        }
    }

    /// Records an order whose commit was answered.
    pub fn acknowledge(&self, district: Terminal, order: i64) {
        self.districts().entry(district).or_default().add(order);
    }

    /// The number of orders that the server, which is back after a crash, has lost. It forgets them.
    pub fn count_lost(&self) -> Result<u64> {
        // What other workers commit meanwhile is recorded after the comparison.
        let mut districts = self.districts();
        let next = self
            .next_orders()
            .map_err(|error| error.at(&self.database.address()))?;
        let lost = |(district, orders): (&Terminal, &mut Orders)| {
            orders.remove_from(next.get(district).copied().unwrap_or(0))
        };
        Ok(districts.iter_mut().map(lost).sum())
    }

    /// The next order's number of every district.
    fn next_orders(&self) -> DbResult<HashMap<Terminal, i64>> {
        let rows = Session::open(&self.database, false)?
            .query(NEXT_ORDERS)?
            .rows;
        let next = |row: &Vec<Option<String>>| {
            let number = |column: usize| row.get(column)?.as_deref()?.parse().ok();
            let (warehouse, district) = (number(0)?, number(1)?);
            Some((
                Terminal {
                    warehouse,
                    district,
                },
                number(2)?,
            ))
        };
        let all: Option<HashMap<Terminal, i64>> = rows.iter().map(next).collect();
        all.ok_or_else(|| DbError::protocol("a row of district has no number"))
    }

    fn districts(&self) -> MutexGuard<'_, HashMap<Terminal, Orders>> {
        self.districts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A set of numbers that grow.
#[derive(Default)]
struct Orders {
    first: i64,
    bits: Vec<u64>,
}

impl Orders {
    fn add(&mut self, order: i64) {
        if self.bits.is_empty() {
            // Another connection may be told of a smaller number later.
            self.first = order / BITS * BITS - BITS;
        }
        let Ok(at) = usize::try_from(order - self.first) else {
            return;
        };
        let word = at / BITS as usize;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (at % BITS as usize);
    }

    /// Removes the numbers from `least` on; returns how many there were.
    fn remove_from(&mut self, least: i64) -> u64 {
        let mut removed = 0;
        for (word, bits) in self.bits.iter_mut().enumerate() {
            let below = (least - self.first - word as i64 * BITS).clamp(0, BITS);
            let from_least = u64::MAX.checked_shl(below as u32).unwrap_or(0);
            removed += u64::from((*bits & from_least).count_ones());
            *bits &= !from_least;
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_the_next_one_on_are_removed_once() {
        let mut orders = Orders::default();
        let all = [3001, 3000, 3063, 3064, 3127, 3128, 3200];
        all.iter().for_each(|&order| orders.add(order));
        assert_eq!(orders.remove_from(3201), 0);
        assert_eq!(orders.remove_from(3128), 2);
        orders.add(3128);
        assert_eq!(orders.remove_from(3064), 3);
        assert_eq!(orders.remove_from(3064), 0);
        assert_eq!(orders.remove_from(0), 3);
    }

    #[test]
    fn a_number_far_below_the_first_is_left_out() {
        let mut orders = Orders::default();
        orders.add(9000);
        orders.add(3000);
        assert_eq!(orders.remove_from(0), 1);
    }
}
