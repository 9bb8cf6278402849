//! Order-Status, clause 2.6.

use rand_core::RngCore;

use super::draws::{self, percent, write_last_name};
use super::statements::TpccStatement;
use super::{Named, Profile, Terminal, middle};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::{BEGIN, COMMIT, Transaction};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Names,
    Order,
    Nothing,
}

pub struct OrderStatus {
    terminal: Terminal,
    named: Named,
    awaits: Awaits,
}

impl OrderStatus {
    pub fn draw(terminal: Terminal, rng: &mut impl RngCore) -> OrderStatus {
        OrderStatus {
            terminal,
            named: match percent(60, rng) {
                true => Named::LastName(draws::last_name(rng)),
                false => Named::Number(draws::customer(rng) as i64),
            },
            awaits: Awaits::Nothing,
        }
    }

    fn key(&self, transaction: &mut Transaction) {
        transaction.arguments.int(self.terminal.warehouse);
        transaction.arguments.int(self.terminal.district);
    }

    fn read_latest_order(&mut self, transaction: &mut Transaction, customer: i64) {
        self.key(transaction);
        transaction.arguments.int(customer);
        transaction.step(TpccStatement::LatestOrder.number());
        self.awaits = Awaits::Order;
    }
}

impl Profile for OrderStatus {
    fn begin(&mut self, transaction: &mut Transaction) {
        transaction.step(BEGIN);
        match self.named {
            Named::Number(customer) => {
                self.key(transaction);
                transaction.arguments.int(customer);
                transaction.step(TpccStatement::Balance.number());
                self.read_latest_order(transaction, customer);
            }
            Named::LastName(name) => {
                for statement in [TpccStatement::CountNames, TpccStatement::BalancesOfName] {
                    self.key(transaction);
                    transaction
                        .arguments
                        .text(|text| write_last_name(name, text));
                    transaction.step(statement.number());
                }
                self.awaits = Awaits::Names;
            }
        }
    }

    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        match self.awaits {
            Awaits::Names => {
                let customer = values.whole(middle(values), 0)?;
                self.read_latest_order(transaction, customer);
            }
            Awaits::Order => {
                let order = values.whole(0, 0)?;
                self.key(transaction);
                transaction.arguments.int(order);
                transaction.step(TpccStatement::LinesOfOrder.number());
                transaction.step(COMMIT);
                self.awaits = Awaits::Nothing;
            }
            Awaits::Nothing => {}
        }
        Ok(())
    }
}
