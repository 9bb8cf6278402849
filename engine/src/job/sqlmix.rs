//! The parameters of a user's own transactions: tables, their content, and the statements.
//!
//! In: JSON. Out: plain data, checked; an error names the transaction and the statement. Read by
//! `workload::sql`.

use serde::{Deserialize, Serialize};

use super::check::{refuse, within};
use super::generator::Generator;
use super::sql::yes;
use crate::db::database::Database;
use crate::db::statement::{Statement, StatementKind};
use crate::error::Result;

const MAX_ROWS: u64 = 1 << 31;
const MAX_REPEAT: u32 = 10_000;
/// The overhead of a row in typical databases, besides its values.
const ROW_OVERHEAD_BYTES: u64 = 40;
const VALUE_BYTES: u64 = 12;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlMix {
    pub database: Database,
    /// Statements that create the tables, in their order.
    #[serde(default)]
    pub schema: Vec<String>,
    #[serde(default)]
    pub rows: Vec<Filling>,
    pub transactions: Vec<MixTransaction>,
    /// Statements are prepared once on each connection; else sent as text.
    #[serde(default = "yes")]
    pub prepared: bool,
}

/// This many rows, each inserted by this statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filling {
    pub count: u64,
    pub insert: String,
    #[serde(default)]
    pub arguments: Vec<Generator>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixTransaction {
    pub name: String,
    /// The transaction is drawn in proportion to it.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// The share that ends with an intended rollback.
    #[serde(default)]
    pub rollback: f64,
    /// Else each statement is committed by itself.
    #[serde(default = "yes")]
    pub transaction: bool,
    pub statements: Vec<MixStatement>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixStatement {
    pub sql: String,
    #[serde(default)]
    pub arguments: Vec<Generator>,
    #[serde(default = "once")]
    pub repeat: u32,
}

impl SqlMix {
    pub(super) fn check(&self) -> Result<()> {
        for (number, filling) in self.rows.iter().enumerate() {
            let position = format!("workload.rows[{number}]");
            within(
                &format!("{position}.count"),
                filling.count as f64,
                1.0..=MAX_ROWS as f64,
            )?;
            check_arguments(&position, &filling.insert, &filling.arguments, 0)?;
        }
        if self.transactions.is_empty() {
            return refuse("workload.transactions is empty".to_string());
        }
        self.transactions.iter().try_for_each(MixTransaction::check)
    }

    /// Whether its loads draw numbers that are never repeated.
    pub fn has_sequence(&self) -> bool {
        self.transactions
            .iter()
            .flat_map(|transaction| &transaction.statements)
            .flat_map(|statement| &statement.arguments)
            .any(|argument| matches!(argument, Generator::Sequence { .. }))
    }
}

impl Filling {
    /// The approximate number of bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        let value = |argument: &Generator| match argument {
            Generator::Text { most, .. } => VALUE_BYTES + u64::from(*most),
            Generator::Digits { pattern } => VALUE_BYTES + pattern.len() as u64,
            _ => VALUE_BYTES,
        };
        ROW_OVERHEAD_BYTES + self.arguments.iter().map(value).sum::<u64>()
    }
}

impl MixTransaction {
    pub fn writes(&self) -> bool {
        let is_write =
            |statement: &MixStatement| StatementKind::of(&statement.sql) == StatementKind::Write;
        self.statements.iter().any(is_write)
    }

    fn check(&self) -> Result<()> {
        let position = format!("transaction `{}`", self.name);
        within(&format!("{position}: weight"), self.weight, 1e-6..=1e9)?;
        within(&format!("{position}: rollback"), self.rollback, 0.0..=1.0)?;
        if self.rollback > 0.0 && !self.transaction {
            return refuse(format!("{position}: rollback needs transaction = true"));
        }
        if self.statements.is_empty() {
            return refuse(format!("{position} has no statements"));
        }
        let mut earlier = 0;
        for (number, statement) in self.statements.iter().enumerate() {
            let position = format!("{position}, statement {}", number + 1);
            if !(1..=MAX_REPEAT).contains(&statement.repeat) {
                return refuse(format!(
                    "{position}: repeat is {}; it must be from 1 to {MAX_REPEAT}",
                    statement.repeat
                ));
            }
            check_arguments(&position, &statement.sql, &statement.arguments, earlier)?;
            earlier += statement.arguments.len();
        }
        Ok(())
    }
}

/// `earlier` is the number of arguments before these.
fn check_arguments(
    position: &str,
    sql: &str,
    arguments: &[Generator],
    earlier: usize,
) -> Result<()> {
    let parameters = Statement::new(StatementKind::of(sql), sql).parameters();
    if parameters != arguments.len() {
        return refuse(format!(
            "{position} has {parameters} parameters and {} arguments",
            arguments.len()
        ));
    }
    for (number, argument) in arguments.iter().enumerate() {
        argument.check(
            &format!("{position}, argument {}", number + 1),
            earlier + number,
        )?;
    }
    Ok(())
}

fn default_weight() -> f64 {
    1.0
}
fn once() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn refused(rows: Value, transactions: Value) -> String {
        let mix: SqlMix = serde_json::from_value(json!({
            "database": {"driver": "sqlite", "path": "/d"}, "rows": rows, "transactions": transactions,
        }))
        .unwrap();
        mix.check().unwrap_err().message
    }

    fn transactions_with(statement: Value) -> Value {
        json!([{"name": "t", "statements": [{"sql": "SELECT 1"}, statement]}])
    }

    #[test]
    fn what_does_not_fit_names_transaction_and_statement() {
        let int = json!({"draw": "int", "low": 1, "high": 9});
        for (statement, expected) in [
            (
                json!({"sql": "SELECT ? + '?'"}),
                "transaction `t`, statement 2 has 1 parameters and 0 arguments",
            ),
            (
                json!({"sql": "SELECT ?", "arguments": [{"draw": "same", "argument": 1}]}),
                "statement 2, argument 1: same = 1 is not an earlier argument; there are 0",
            ),
            (
                json!({"sql": "SELECT ?, ?", "arguments": [int, {"draw": "int", "low": 2, "high": 1}]}),
                "argument 2: int from 2 to 1",
            ),
            (json!({"sql": "SELECT 1", "repeat": 0}), "repeat is 0"),
            (
                json!({"sql": "SELECT ?", "arguments": [{"draw": "text", "least": 3, "most": 2}]}),
                "text of 3 to 2",
            ),
            (
                json!({"sql": "SELECT ?", "arguments": [{"draw": "choice", "values": []}]}),
                "choice has no values",
            ),
        ] {
            let message = refused(json!([]), transactions_with(statement));
            assert!(message.contains(expected), "{message}");
        }
        let light = json!([{"name": "t", "weight": 0, "statements": [{"sql": "SELECT 1"}]}]);
        assert!(refused(json!([]), light).contains("transaction `t`: weight is 0"));
        let rows = json!([{"count": 1, "insert": "INSERT INTO t VALUES (?)"}]);
        let fine = transactions_with(json!({"sql": "SELECT 1"}));
        assert!(refused(rows, fine).contains("workload.rows[0] has 1 parameters and 0 arguments"));
    }
}
