//! Payment, clause 2.5.

use rand_core::RngCore;

use super::draws::{self, DISTRICTS, between, percent, write_last_name, write_money};
use super::new_order::other_warehouse;
use super::statements::TpccStatement;
use super::{Named, Profile, Terminal, middle};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::workload::sql::transaction::{BEGIN_TO_WRITE, COMMIT, Transaction};

const LONGEST_DATA: usize = 500;
const BAD_CREDIT: &str = "BC";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Warehouse,
    District,
    Names,
    Credit,
    Data,
    Nothing,
}

pub struct Payment {
    terminal: Terminal,
    /// The warehouse and the district of the customer.
    of_customer: Terminal,
    named: Named,
    customer: i64,
    amount: i64,
    /// The names of the warehouse and of the district.
    names: String,
    awaits: Awaits,
}

impl Payment {
    pub fn draw(terminal: Terminal, warehouses: u64, rng: &mut impl RngCore) -> Payment {
        let of_customer = if warehouses > 1 && percent(15, rng) {
            Terminal {
                warehouse: other_warehouse(terminal.warehouse, warehouses, rng),
                district: between(1, DISTRICTS, rng) as i64,
            }
        } else {
            terminal
        };
        Payment {
            terminal,
            of_customer,
            named: match percent(60, rng) {
                true => Named::LastName(draws::last_name(rng)),
                false => Named::Number(draws::customer(rng) as i64),
            },
            customer: 0,
            amount: between(100, 500_000, rng) as i64,
            names: String::new(),
            awaits: Awaits::Nothing,
        }
    }

    fn customer_key(&self, transaction: &mut Transaction) {
        let arguments = &mut transaction.arguments;
        arguments.int(self.of_customer.warehouse);
        arguments.int(self.of_customer.district);
        arguments.int(self.customer);
    }

    fn money(&self, transaction: &mut Transaction) {
        transaction
            .arguments
            .text(|text| write_money(self.amount, text));
    }

    fn find_customer(&mut self, transaction: &mut Transaction) {
        match self.named {
            Named::Number(number) => {
                self.customer = number;
                self.read_customer(transaction);
            }
            Named::LastName(name) => {
                for statement in [TpccStatement::CountNames, TpccStatement::CustomersOfName] {
                    transaction.arguments.int(self.of_customer.warehouse);
                    transaction.arguments.int(self.of_customer.district);
                    transaction
                        .arguments
                        .text(|text| write_last_name(name, text));
                    transaction.step(statement.number());
                }
                self.awaits = Awaits::Names;
            }
        }
    }

    fn read_customer(&mut self, transaction: &mut Transaction) {
        self.customer_key(transaction);
        transaction.step(TpccStatement::Payer.number());
        self.awaits = Awaits::Credit;
    }

    /// `data` is of a customer with bad credit.
    fn pay(&mut self, transaction: &mut Transaction, data: Option<&str>) {
        self.money(transaction);
        self.money(transaction);
        let statement = match data {
            None => TpccStatement::Pay,
            Some(data) => {
                transaction
                    .arguments
                    .text(|text| self.write_data(data, text));
                TpccStatement::PayOnBadCredit
            }
        };
        self.customer_key(transaction);
        transaction.step(statement.number());
        let arguments = &mut transaction.arguments;
        arguments.int(self.of_customer.district);
        arguments.int(self.of_customer.warehouse);
        arguments.int(self.customer);
        arguments.int(self.terminal.district);
        arguments.int(self.terminal.warehouse);
        self.money(transaction);
        transaction
            .arguments
            .text(|text| text.push_str(&self.names));
        transaction.step(TpccStatement::AddHistory.number());
        transaction.step(COMMIT);
        self.awaits = Awaits::Nothing;
    }

    /// What the customer's data begins with from now on (clause 2.5.2.2).
    fn write_data(&self, data: &str, text: &mut String) {
        let start = text.len();
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(
            text,
            format_args!(
                "{} {} {} {} {} ",
                self.customer,
                self.of_customer.district,
                self.of_customer.warehouse,
                self.terminal.district,
                self.terminal.warehouse
            ),
        );
        write_money(self.amount, text);
        text.push('|');
        text.push_str(data);
        let longest = start + LONGEST_DATA;
        if text.len() > longest {
            let cut = (0..=longest).rev().find(|&end| text.is_char_boundary(end));
            text.truncate(cut.unwrap_or(start));
        }
    }
}

impl Profile for Payment {
    fn begin(&mut self, transaction: &mut Transaction) {
        self.names.clear();
        transaction.step(BEGIN_TO_WRITE);
        self.money(transaction);
        transaction.arguments.int(self.terminal.warehouse);
        transaction.step(TpccStatement::PayWarehouse.number());
        transaction.arguments.int(self.terminal.warehouse);
        transaction.step(TpccStatement::WarehouseAddress.number());
        self.awaits = Awaits::Warehouse;
    }

    fn go_on(&mut self, transaction: &mut Transaction, values: &Values) -> DbResult<()> {
        match self.awaits {
            Awaits::Warehouse => {
                self.names.push_str(values.text_at(0, 0)?);
                self.names.push_str("    ");
                self.money(transaction);
                for _ in 0..2 {
                    transaction.arguments.int(self.terminal.warehouse);
                    transaction.arguments.int(self.terminal.district);
                    let is_first = self.awaits == Awaits::Warehouse;
                    transaction.step(if is_first {
                        TpccStatement::PayDistrict.number()
                    } else {
                        TpccStatement::DistrictAddress.number()
                    });
                    self.awaits = Awaits::District;
                }
            }
            Awaits::District => {
                self.names.push_str(values.text_at(0, 0)?);
                self.find_customer(transaction);
            }
            Awaits::Names => {
                self.customer = values.whole(middle(values), 0)?;
                self.read_customer(transaction);
            }
            Awaits::Credit if values.text_at(0, 0)? == BAD_CREDIT => {
                self.customer_key(transaction);
                transaction.step(TpccStatement::CreditData.number());
                self.awaits = Awaits::Data;
            }
            Awaits::Credit => self.pay(transaction, None),
            Awaits::Data => {
                let data = values.text_at(0, 0)?.to_string();
                self.pay(transaction, Some(&data));
            }
            Awaits::Nothing => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;

    const HOME: Terminal = Terminal {
        warehouse: 1,
        district: 3,
    };

    #[test]
    fn customers_are_drawn_as_specified() {
        let mut rng = generator(8, 1);
        let draws = 100_000;
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..draws {
            let payment = Payment::draw(HOME, 3, &mut rng);
            remote += u32::from(payment.of_customer.warehouse != 1);
            by_name += u32::from(matches!(payment.named, Named::LastName(_)));
            assert!((100..=500_000).contains(&payment.amount));
        }
        assert!((f64::from(remote) / f64::from(draws) - 0.15).abs() < 0.006);
        assert!((f64::from(by_name) / f64::from(draws) - 0.60).abs() < 0.008);
        let alone = Payment::draw(HOME, 1, &mut rng);
        assert_eq!(alone.of_customer, HOME);
    }

    #[test]
    fn data_of_bad_credit_has_the_payment_in_front_and_500_letters_at_most() {
        let mut payment = Payment::draw(HOME, 1, &mut generator(8, 2));
        (payment.customer, payment.amount) = (42, 1_234);
        let mut text = "before".to_string();
        payment.write_data(&"x".repeat(500), &mut text);
        assert!(text.starts_with("before42 3 1 3 1 12.34|xxx"));
        assert_eq!(text.len(), "before".len() + 500);
    }
}
