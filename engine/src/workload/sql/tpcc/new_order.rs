//! New-Order, clause 2.4.

use std::sync::Arc;

use rand_core::RngCore;

use super::draws::{self, ITEMS, between, percent, write_money};
use super::ledger::OrderLedger;
use super::statements::TpccStatement;
use super::{Profile, Terminal};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::{BEGIN_TO_WRITE, COMMIT, ROLLBACK, Transaction};

/// A number that no item has.
const UNUSED_ITEM: i64 = ITEMS as i64 + 1;
/// Below this the stock is filled up again.
const LEAST_STOCK: i64 = 10;
const REFILL: i64 = 91;

#[derive(Debug, Clone, Copy)]
struct Line {
    item: i64,
    supplier: i64,
    quantity: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    OrderNumber,
    Item,
    Stock,
    Commit,
    Nothing,
}

pub struct NewOrder {
    terminal: Terminal,
    customer: i64,
    lines: Vec<Line>,
    order: i64,
    price: i64,
    at: usize,
    awaits: Awaits,
    ledger: Arc<OrderLedger>,
}

impl NewOrder {
    pub fn draw(
        terminal: Terminal,
        warehouses: u64,
        ledger: Arc<OrderLedger>,
        rng: &mut impl RngCore,
    ) -> NewOrder {
        let count = between(5, 15, rng);
        let rolls_back = percent(1, rng);
        let customer = draws::customer(rng) as i64;
        let mut lines: Vec<Line> = (0..count)
            .map(|_| Line {
                item: draws::item(rng) as i64,
                supplier: match warehouses > 1 && percent(1, rng) {
                    true => other_warehouse(terminal.warehouse, warehouses, rng),
                    false => terminal.warehouse,
                },
                quantity: between(1, 10, rng) as i64,
            })
            .collect();
        // In one order for all, so that two orders of the same items do not lock each other out.
        lines.sort_unstable_by_key(|line| (line.supplier, line.item));
        if let (true, Some(last)) = (rolls_back, lines.last_mut()) {
            last.item = UNUSED_ITEM;
        }
        NewOrder {
            terminal,
            customer,
            lines,
            order: 0,
            price: 0,
            at: 0,
            awaits: Awaits::Nothing,
            ledger,
        }
    }

    fn read_item(&mut self, transaction: &mut Transaction) {
        transaction.arguments.int(self.lines[self.at].item);
        transaction.step(TpccStatement::Item.number());
        self.awaits = Awaits::Item;
    }

    fn add_order(&mut self, transaction: &mut Transaction) {
        let Terminal {
            warehouse,
            district,
        } = self.terminal;
        let arguments = &mut transaction.arguments;
        arguments.int(self.order + 1);
        arguments.int(district);
        arguments.int(warehouse);
        transaction.step(TpccStatement::CountOrder.number());
        let is_local = self.lines.iter().all(|line| line.supplier == warehouse);
        let arguments = &mut transaction.arguments;
        for value in [self.order, district, warehouse, self.customer] {
            arguments.int(value);
        }
        arguments.int(self.lines.len() as i64);
        arguments.int(i64::from(is_local));
        transaction.step(TpccStatement::AddOrder.number());
        for value in [self.order, district, warehouse] {
            transaction.arguments.int(value);
        }
        transaction.step(TpccStatement::AddNewOrder.number());
    }

    fn add_line(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        let Terminal {
            warehouse,
            district,
        } = self.terminal;
        let line = self.lines[self.at];
        let left = values.whole(0, 0)? - line.quantity;
        let arguments = &mut transaction.arguments;
        arguments.int(if left >= LEAST_STOCK {
            left
        } else {
            left + REFILL
        });
        arguments.int(line.quantity);
        arguments.int(i64::from(line.supplier != warehouse));
        arguments.int(line.item);
        arguments.int(line.supplier);
        transaction.step(TpccStatement::UpdateStock.number());
        let arguments = &mut transaction.arguments;
        let number = self.at as i64 + 1;
        for value in [self.order, district, warehouse, number, line.item] {
            arguments.int(value);
        }
        arguments.int(line.supplier);
        arguments.int(line.quantity);
        arguments.text(|text| write_money(line.quantity * self.price, text));
        let of_district = values.text_at(0, 1)?;
        arguments.text(|text| text.push_str(of_district));
        transaction.step(TpccStatement::AddOrderLine.number());
        Ok(())
    }
}

impl Profile for NewOrder {
    fn begin(&mut self, transaction: &mut Transaction) {
        let Terminal {
            warehouse,
            district,
        } = self.terminal;
        self.at = 0;
        self.awaits = Awaits::OrderNumber;
        transaction.step(BEGIN_TO_WRITE);
        for value in [warehouse, district, self.customer] {
            transaction.arguments.int(value);
        }
        transaction.step(TpccStatement::Buyer.number());
        transaction.arguments.int(district);
        transaction.arguments.int(warehouse);
        transaction.step(TpccStatement::NextOrder.number());
    }

    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        match self.awaits {
            Awaits::OrderNumber => {
                self.order = values.whole(0, 0)?;
                self.add_order(transaction);
                self.read_item(transaction);
            }
            // The unused number, which the specification has rolled back (clause 2.4.1.4).
            Awaits::Item if values.rows() == 0 => {
                transaction.rolls_back = true;
                transaction.step(ROLLBACK);
                self.awaits = Awaits::Nothing;
            }
            Awaits::Item => {
                self.price = values.hundredths(0, 0)?;
                let line = self.lines[self.at];
                transaction.arguments.int(line.item);
                transaction.arguments.int(line.supplier);
                transaction.step(TpccStatement::stock_of(self.terminal.district as u64));
                self.awaits = Awaits::Stock;
            }
            Awaits::Stock => {
                self.add_line(transaction, values)?;
                self.at += 1;
                if self.at < self.lines.len() {
                    self.read_item(transaction);
                } else {
                    transaction.step(COMMIT);
                    self.awaits = Awaits::Commit;
                }
            }
            Awaits::Commit => {
                self.ledger.acknowledge(self.terminal, self.order);
                self.awaits = Awaits::Nothing;
            }
            Awaits::Nothing => {}
        }
        Ok(())
    }
}

/// Another warehouse, uniform.
pub fn other_warehouse(home: i64, warehouses: u64, rng: &mut impl RngCore) -> i64 {
    let drawn = between(1, warehouses - 1, rng) as i64;
    if drawn < home { drawn } else { drawn + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    #[test]
    fn lines_are_drawn_as_specified() {
        let mut rng = generator(3, 4);
        let terminal = Terminal {
            warehouse: 2,
            district: 7,
        };
        let file = serde_json::json!({"driver": "sqlite", "path": "/d"});
        let ledger = Arc::new(OrderLedger::new(serde_json::from_value(file).unwrap()));
        let (draws, mut lines, mut remote, mut unused) = (100_000u64, 0u64, 0u64, 0u64);
        for _ in 0..draws {
            let order = NewOrder::draw(terminal, 4, Arc::clone(&ledger), &mut rng);
            assert!((5..=15).contains(&order.lines.len()));
            lines += order.lines.len() as u64;
            remote += order.lines.iter().filter(|line| line.supplier != 2).count() as u64;
            unused += u64::from(order.lines.last().unwrap().item == UNUSED_ITEM);
            assert!(
                order
                    .lines
                    .iter()
                    .all(|line| (1..=4).contains(&line.supplier))
            );
        }
        let share = |count: u64, of: u64| count as f64 / of as f64;
        assert!((share(lines, draws) - 10.0).abs() < 0.05);
        assert!((share(remote, lines) - 0.01).abs() < 0.0006);
        assert!((share(unused, draws) - 0.01).abs() < 0.0016);
    }
}
