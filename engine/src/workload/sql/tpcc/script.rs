//! The transactions of one worker: dealt from a shuffled deck, with their inputs.
//!
//! In: the job's parameters, a random generator. Out: transactions. Called by `spawn`.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::delivery::Delivery;
use super::draws::{DISTRICTS, between};
use super::ledger::OrderLedger;
use super::new_order::NewOrder;
use super::order_status::OrderStatus;
use super::payment::Payment;
use super::stock_level::StockLevel;
use super::{Profile, Terminal};
use crate::db::error::DbResult;
use crate::db::values::Values;
use crate::error::Result;
use crate::job::tpcc::{Home, Tpcc};
use crate::random::generator;
use crate::workload::fileio::distribution::below;
use crate::workload::sql::transaction::{Script, Transaction, TransactionWorker};

pub struct TpccScript {
    rng: Xoshiro256PlusPlus,
    warehouses: u64,
    home: Home,
    deck: Vec<usize>,
    /// The cards that are left of the deck.
    left: usize,
    /// The number of the next connection, counted over all workers.
    next_connection: u64,
    workers: u64,
    ledger: Arc<OrderLedger>,
}

/// The transaction of a connection, and the terminal that it stands for.
#[derive(Default)]
pub struct TpccState {
    home: Option<Terminal>,
    profile: Option<Box<dyn Profile>>,
}

impl TpccScript {
    /// `ledger` is that of all workers.
    pub fn new(
        tpcc: &Tpcc,
        seed: u64,
        worker: TransactionWorker,
        ledger: Arc<OrderLedger>,
    ) -> TpccScript {
        let cards = |(kind, &count): (usize, &u32)| std::iter::repeat_n(kind, count as usize);
        TpccScript {
            rng: generator(seed, worker.generator()),
            warehouses: tpcc.warehouses.into(),
            home: tpcc.home,
            deck: tpcc.mix.iter().enumerate().flat_map(cards).collect(),
            left: 0,
            next_connection: worker.generator(),
            workers: worker.of as u64,
            ledger,
        }
    }

    /// The kind of the next transaction (clause 5.2.4.2: a deck of cards keeps the shares).
    fn deal(&mut self) -> usize {
        if self.left == 0 {
            self.left = self.deck.len();
        }
        // A step of Fisher and Yates.
        let drawn = below(self.left as u64, &mut self.rng) as usize;
        self.left -= 1;
        self.deck.swap(drawn, self.left);
        self.deck[self.left]
    }

    fn terminal(&mut self, state: &mut TpccState) -> Terminal {
        if self.home == Home::Random {
            return Terminal {
                warehouse: between(1, self.warehouses, &mut self.rng) as i64,
                district: between(1, DISTRICTS, &mut self.rng) as i64,
            };
        }
        *state.home.get_or_insert_with(|| {
            let number = self.next_connection;
            self.next_connection += self.workers;
            Terminal {
                warehouse: (1 + number % self.warehouses) as i64,
                district: (1 + number / self.warehouses % DISTRICTS) as i64,
            }
        })
    }
}

impl Script for TpccScript {
    type State = TpccState;

    fn draw(&mut self, transaction: &mut Transaction, state: &mut TpccState) {
        let kind = self.deal();
        let home = self.terminal(state);
        // Stock-Level alone keeps its district (clauses 2.4.1.2, 2.5.1.2, 2.6.1.2 and 2.8.1.1).
        let at = Terminal {
            district: between(1, DISTRICTS, &mut self.rng) as i64,
            ..home
        };
        let (rng, warehouses) = (&mut self.rng, self.warehouses);
        let mut profile: Box<dyn Profile> = match kind {
            0 => Box::new(NewOrder::draw(
                at,
                warehouses,
                Arc::clone(&self.ledger),
                rng,
            )),
            1 => Box::new(Payment::draw(at, warehouses, rng)),
            2 => Box::new(OrderStatus::draw(at, rng)),
            3 => Box::new(Delivery::draw(at, rng)),
            _ => Box::new(StockLevel::draw(home, rng)),
        };
        transaction.kind = Some(kind);
        profile.begin(transaction);
        state.profile = Some(profile);
    }

    fn go_on(
        &mut self,
        transaction: &mut Transaction,
        state: &mut TpccState,
        values: &Values,
    ) -> DbResult<()> {
        match &mut state.profile {
            Some(profile) => profile.go_on(transaction, values),
            None => Ok(()),
        }
    }

    fn count_lost(&mut self) -> Result<u64> {
        self.ledger.count_lost()
    }

    fn repeat(&mut self, transaction: &mut Transaction, state: &mut TpccState) {
        let kind = transaction.kind;
        transaction.clear();
        transaction.kind = kind;
        if let Some(profile) = &mut state.profile {
            profile.begin(transaction);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(home: &str, number: usize, first_connection: usize) -> TpccScript {
        let tpcc = serde_json::from_value(serde_json::json!({
            "database": {"driver": "sqlite", "path": "/d"}, "warehouses": 3, "home": home,
        }));
        let tpcc: Tpcc = tpcc.unwrap();
        let ledger = Arc::new(OrderLedger::new(tpcc.database.clone()));
        let worker = TransactionWorker {
            number,
            of: 2,
            first_connection,
        };
        TpccScript::new(&tpcc, 7, worker, ledger)
    }

    #[test]
    fn every_deck_has_its_cards_in_another_order() {
        let mut script = script("random", 0, 0);
        let mut decks = Vec::new();
        for _ in 0..50 {
            let deck: Vec<usize> = (0..100).map(|_| script.deal()).collect();
            let count = |kind| deck.iter().filter(|&&card| card == kind).count();
            assert_eq!([0, 1, 2, 3, 4].map(count), [45, 43, 4, 4, 4]);
            decks.push(deck);
        }
        decks.dedup();
        assert_eq!(decks.len(), 50);
    }

    #[test]
    fn a_connection_keeps_its_home() {
        let homes = |number, first_connection| {
            let mut script = script("fixed", number, first_connection);
            let mut states: Vec<TpccState> = (0..4).map(|_| TpccState::default()).collect();
            let mut home = |state: &mut TpccState| {
                let first = script.terminal(state);
                assert_eq!(script.terminal(state), first);
                (first.warehouse, first.district)
            };
            states.iter_mut().map(&mut home).collect::<Vec<_>>()
        };
        assert_eq!(homes(0, 0), [(1, 1), (3, 1), (2, 2), (1, 3)]);
        assert_eq!(homes(1, 0), [(2, 1), (1, 2), (3, 2), (2, 3)]);
        let after_eight = homes(0, 8);
        assert_eq!(after_eight, [(3, 3), (2, 4), (1, 5), (3, 5)]);
    }

    #[test]
    fn load_hosts_draw_other_transactions() {
        let decks = |first_connection| {
            let mut script = script("random", 0, first_connection);
            (0..100).map(|_| script.deal()).collect::<Vec<_>>()
        };
        assert_eq!(decks(0), decks(0));
        assert_ne!(decks(0), decks(8));
    }
}
