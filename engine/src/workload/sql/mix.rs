//! A user's own transactions: the statements, and the draws of each transaction.
//!
//! In: the job's parameters. Out: the statements to prepare, and a script. Called by `spawn`.

use super::generate::{Draws, Generators};
use super::schema::Dialect;
use super::transaction::{
    BEGIN, BEGIN_TO_WRITE, COMMIT, ROLLBACK, Script, Transaction, TransactionWorker, framing,
};
use crate::db::statement::{Statement, StatementKind};
use crate::job::sqlmix::{MixTransaction, SqlMix};
use crate::random::generator;
use crate::workload::fileio::distribution::unit;

/// Numbers of a sequence reserved for each run, so that no two runs on the same data draw the same
/// number.
const NUMBERS_OF_A_RUN: i64 = 1 << 32;

/// Every statement of all transactions. Its position in the list is its number.
pub fn statements(mix: &SqlMix, dialect: Dialect) -> Vec<Statement> {
    let mut list = framing(dialect);
    for statement in mix
        .transactions
        .iter()
        .flat_map(|transaction| &transaction.statements)
    {
        list.push(Statement::new(
            StatementKind::of(&statement.sql),
            &statement.sql,
        ));
    }
    list
}

/// Draws the transactions of one worker.
pub struct MixScript {
    draws: Draws,
    weight: f64,
    choices: Vec<Choice>,
}

struct Choice {
    /// The sum of the weights up to this transaction.
    end: f64,
    rollback: f64,
    /// The statement that begins the transaction; `None` where each statement is committed by
    /// itself.
    begin: Option<usize>,
    steps: Vec<Step>,
}

struct Step {
    statement: usize,
    repeat: u32,
    arguments: Generators,
}

impl MixScript {
    /// `run` is the number of earlier runs on the same data.
    pub fn new(mix: &SqlMix, seed: u64, run: i64, worker: TransactionWorker) -> MixScript {
        let rng = generator(seed, worker.generator());
        let first = run.wrapping_mul(NUMBERS_OF_A_RUN) + worker.number as i64;
        let (mut weight, mut statement) = (0.0, framing(Dialect::Sqlite).len());
        let choice = |transaction: &MixTransaction| {
            weight += transaction.weight;
            let mut earlier = 0;
            let steps = transaction.statements.iter().map(|mix_statement| {
                let step = Step {
                    statement,
                    repeat: mix_statement.repeat,
                    arguments: Generators::new(&mix_statement.arguments, earlier),
                };
                statement += 1;
                earlier += mix_statement.arguments.len();
                step
            });
            Choice {
                end: weight,
                rollback: transaction.rollback,
                begin: transaction.transaction.then_some(if transaction.writes() {
                    BEGIN_TO_WRITE
                } else {
                    BEGIN
                }),
                steps: steps.collect(),
            }
        };
        let choices = mix.transactions.iter().map(choice).collect();
        MixScript {
            draws: Draws::new(rng, first, worker.of as i64),
            weight,
            choices,
        }
    }
}

impl Script for MixScript {
    type State = ();

    fn draw(&mut self, transaction: &mut Transaction, _state: &mut ()) {
        let drawn = unit(&mut self.draws.rng) * self.weight;
        // Rounding may draw the whole weight, which selects the last transaction.
        let index = self.choices.partition_point(|choice| choice.end <= drawn);
        let choice = &self.choices[index.min(self.choices.len() - 1)];
        transaction.rolls_back =
            choice.rollback > 0.0 && unit(&mut self.draws.rng) < choice.rollback;
        if let Some(begin) = choice.begin {
            transaction.step(begin);
        }
        for step in &choice.steps {
            for _ in 0..step.repeat {
                step.arguments
                    .draw(&mut self.draws, &mut transaction.arguments);
                transaction.step(step.statement);
            }
        }
        if choice.begin.is_some() {
            let end = if transaction.rolls_back {
                ROLLBACK
            } else {
                COMMIT
            };
            transaction.step(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::argument::Argument;
    use serde_json::json;
    use std::collections::HashSet;

    const FIRST: usize = 4;

    fn mix() -> SqlMix {
        serde_json::from_value(json!({
            "database": {"driver": "sqlite", "path": "/d"},
            "transactions": [
                {"name": "move", "weight": 3, "rollback": 0.1, "statements": [
                    {"sql": "SELECT ?", "arguments": [{"draw": "int", "low": 1, "high": 1_000_000}]},
                    {"sql": "UPDATE a SET b = ? WHERE c = ?", "repeat": 2,
                     "arguments": [{"draw": "sequence", "start": 10}, {"draw": "same", "argument": 1}]},
                    {"sql": "UPDATE a SET b = ?", "arguments": [{"draw": "same", "argument": 2}]},
                ]},
                {"name": "look", "transaction": false, "statements": [{"sql": "SELECT 1"}]},
            ],
        }))
        .unwrap()
    }

    fn script(run: i64, number: usize) -> MixScript {
        let worker = TransactionWorker {
            number,
            of: 3,
            first_connection: 0,
        };
        MixScript::new(&mix(), 7, run, worker)
    }

    fn values(transaction: &Transaction, step: usize) -> Vec<i64> {
        let (_, arguments) = transaction.get(step);
        let int = |argument| match argument {
            Argument::Int(value) => value,
            other => panic!("{other:?}"),
        };
        arguments.iter().map(int).collect()
    }

    #[test]
    fn transactions_come_by_weight_and_end_with_a_rollback_by_share() {
        let (mut script, mut transaction) = (script(0, 0), Transaction::default());
        let (draws, mut moves, mut rollbacks) = (20_000, 0, 0);
        for _ in 0..draws {
            transaction.clear();
            script.draw(&mut transaction, &mut ());
            let numbers: Vec<usize> = (0..transaction.len())
                .map(|step| transaction.get(step).0)
                .collect();
            if transaction.len() == 1 {
                assert_eq!(numbers, [FIRST + 3]);
                continue;
            }
            let end = if transaction.rolls_back {
                ROLLBACK
            } else {
                COMMIT
            };
            let (first, second) = (FIRST, FIRST + 1);
            assert_eq!(
                numbers,
                [BEGIN_TO_WRITE, first, second, second, FIRST + 2, end]
            );
            moves += 1;
            rollbacks += u32::from(transaction.rolls_back);
        }
        let share = f64::from(moves) / f64::from(draws);
        assert!((share - 0.75).abs() < 0.015, "{share}");
        let share = f64::from(rollbacks) / f64::from(moves);
        assert!((share - 0.1).abs() < 0.012, "{share}");
    }

    #[test]
    fn the_same_value_is_the_latest_of_its_argument() {
        let (mut script, mut transaction) = (script(0, 0), Transaction::default());
        for _ in 0..100 {
            transaction.clear();
            script.draw(&mut transaction, &mut ());
            if transaction.len() > 1 {
                let (drawn, updates) = (values(&transaction, 1), values(&transaction, 3));
                assert_eq!(updates[1], drawn[0]);
                assert_eq!(values(&transaction, 4), [updates[0]]);
            }
        }
    }

    #[test]
    fn a_number_of_a_sequence_is_drawn_once_by_all_workers_of_all_runs() {
        let mut seen = HashSet::new();
        for (run, worker) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)] {
            let (mut script, mut transaction) = (script(run, worker), Transaction::default());
            for _ in 0..500 {
                transaction.clear();
                script.draw(&mut transaction, &mut ());
                for step in [2, 3].into_iter().filter(|&step| step < transaction.len()) {
                    let number = values(&transaction, step)[0];
                    assert!(number >= 10 && seen.insert(number), "{number} twice");
                }
            }
        }
    }
}
