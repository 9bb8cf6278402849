//! Delivery, clause 2.7: the oldest new order of each district, in one transaction as tpcc-mysql
//! has it.

use rand_core::RngCore;

use super::draws::{DISTRICTS, between};
use super::statements::TpccStatement;
use super::{Profile, Terminal};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::{BEGIN_TO_WRITE, COMMIT, Transaction};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    /// The oldest order; whether it was looked for twice. PostgreSQL finds none where another
    /// delivery has just taken the one that it waited for.
    Oldest {
        is_second_try: bool,
    },
    Customer,
    Amount,
    Nothing,
}

pub struct Delivery {
    warehouse: i64,
    carrier: i64,
    district: i64,
    order: i64,
    customer: i64,
    awaits: Awaits,
}

impl Delivery {
    pub fn draw(terminal: Terminal, rng: &mut impl RngCore) -> Delivery {
        Delivery {
            warehouse: terminal.warehouse,
            carrier: between(1, 10, rng) as i64,
            district: 1,
            order: 0,
            customer: 0,
            awaits: Awaits::Nothing,
        }
    }

    fn find_oldest(&mut self, transaction: &mut Transaction, is_second_try: bool) {
        transaction.arguments.int(self.district);
        transaction.arguments.int(self.warehouse);
        transaction.step(TpccStatement::OldestNewOrder.number());
        self.awaits = Awaits::Oldest { is_second_try };
    }

    fn order_key(&self, transaction: &mut Transaction, statement: TpccStatement) {
        transaction.arguments.int(self.order);
        transaction.arguments.int(self.district);
        transaction.arguments.int(self.warehouse);
        transaction.step(statement.number());
    }

    fn next_district(&mut self, transaction: &mut Transaction) {
        self.district += 1;
        if self.district <= DISTRICTS as i64 {
            self.find_oldest(transaction, false);
        } else {
            transaction.step(COMMIT);
            self.awaits = Awaits::Nothing;
        }
    }
}

impl Profile for Delivery {
    fn begin(&mut self, transaction: &mut Transaction) {
        self.district = 1;
        transaction.skipped = 0;
        transaction.step(BEGIN_TO_WRITE);
        self.find_oldest(transaction, false);
    }

    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        match self.awaits {
            Awaits::Oldest { is_second_try } if values.rows() == 0 => {
                if is_second_try {
                    transaction.skipped += 1;
                    self.next_district(transaction);
                } else {
                    self.find_oldest(transaction, true);
                }
            }
            Awaits::Oldest { .. } => {
                self.order = values.whole(0, 0)?;
                self.order_key(transaction, TpccStatement::TakeNewOrder);
                self.order_key(transaction, TpccStatement::OrderingCustomer);
                self.awaits = Awaits::Customer;
            }
            Awaits::Customer => {
                self.customer = values.whole(0, 0)?;
                transaction.arguments.int(self.carrier);
                self.order_key(transaction, TpccStatement::SetCarrier);
                self.order_key(transaction, TpccStatement::SetDelivery);
                self.order_key(transaction, TpccStatement::AmountOfOrder);
                self.awaits = Awaits::Amount;
            }
            Awaits::Amount => {
                let amount = values.hundredths(0, 0)?;
                let arguments = &mut transaction.arguments;
                arguments.text(|text| super::draws::write_money(amount, text));
                arguments.int(self.customer);
                arguments.int(self.district);
                arguments.int(self.warehouse);
                transaction.step(TpccStatement::Credit.number());
                self.next_district(transaction);
            }
            Awaits::Nothing => {}
        }
        Ok(())
    }
}
