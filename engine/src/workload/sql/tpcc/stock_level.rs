//! Stock-Level, clause 2.8.

use rand_core::RngCore;

use super::draws::between;
use super::statements::TpccStatement;
use super::{Profile, Terminal};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::{BEGIN, COMMIT, Transaction};

/// The latest orders of the district whose items are looked at.
const ORDERS: i64 = 20;

pub struct StockLevel {
    terminal: Terminal,
    threshold: i64,
    is_counted: bool,
}

impl StockLevel {
    pub fn draw(terminal: Terminal, rng: &mut impl RngCore) -> StockLevel {
        StockLevel {
            terminal,
            threshold: between(10, 20, rng) as i64,
            is_counted: false,
        }
    }
}

impl Profile for StockLevel {
    fn begin(&mut self, transaction: &mut Transaction) {
        self.is_counted = false;
        transaction.step(BEGIN);
        transaction.arguments.int(self.terminal.district);
        transaction.arguments.int(self.terminal.warehouse);
        transaction.step(TpccStatement::OrdersUpTo.number());
    }

    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        if self.is_counted {
            return Ok(());
        }
        self.is_counted = true;
        let next = values.whole(0, 0)?;
        let Terminal {
            warehouse,
            district,
        } = self.terminal;
        for value in [
            warehouse,
            district,
            next,
            next - ORDERS,
            warehouse,
            self.threshold,
        ] {
            transaction.arguments.int(value);
        }
        transaction.step(TpccStatement::LowStock.number());
        transaction.step(COMMIT);
        Ok(())
    }
}
