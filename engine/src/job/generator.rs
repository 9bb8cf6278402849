//! The sources of the values of a user's own statements.
//!
//! In: JSON. Out: plain data, checked. Read by `workload::sql::generate`.

use serde::{Deserialize, Serialize};

use super::check::{refuse, within};
use super::sql::{pareto_h, zipf_exponent};
use crate::error::Result;

const MAX_TEXT: u32 = 1 << 20;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "draw", rename_all = "lowercase", deny_unknown_fields)]
pub enum Generator {
    Int {
        low: i64,
        high: i64,
        #[serde(default)]
        distribution: Preferred,
        #[serde(default = "zipf_exponent")]
        zipf_exponent: f64,
        #[serde(default = "pareto_h")]
        pareto_h: f64,
    },
    Float {
        low: f64,
        high: f64,
    },
    /// The number of letters, from `least` to `most`.
    Text {
        least: u32,
        most: u32,
    },
    /// Each `#` is a digit.
    Digits {
        pattern: String,
    },
    Choice {
        values: Vec<Literal>,
    },
    /// For rows: counts up from `start`. In a load: a number that no other draw of the data's loads
    /// returns.
    Sequence {
        start: i64,
    },
    /// Repeats the value of an earlier argument, counted from 1 as they are written.
    Same {
        argument: usize,
    },
    Null {},
}

/// The distribution of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preferred {
    #[default]
    Uniform,
    Zipf,
    Pareto,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    Int(i64),
    Float(f64),
    Text(String),
}

impl Generator {
    /// `earlier` is the number of arguments before it; `position` names it.
    pub(super) fn check(&self, position: &str, earlier: usize) -> Result<()> {
        match self {
            Generator::Int {
                low,
                high,
                zipf_exponent,
                pareto_h,
                ..
            } => {
                // A distribution in floating point does not reach all numbers of a larger range.
                if low > high || low.abs_diff(*high) >= 1 << 53 {
                    return refuse(format!(
                        "{position}: int from {low} to {high} is not a range of at most 2^53 numbers"
                    ));
                }
                within(
                    &format!("{position}: zipf_exponent"),
                    *zipf_exponent,
                    0.01..=10.0,
                )?;
                within(&format!("{position}: pareto_h"), *pareto_h, 0.001..=0.5)
            }
            Generator::Float { low, high } => {
                if low <= high && (high - low).is_finite() {
                    return Ok(());
                }
                refuse(format!(
                    "{position}: float from {low} to {high} is not a range"
                ))
            }
            Generator::Text { least, most } if least > most || *most > MAX_TEXT => refuse(format!(
                "{position}: text of {least} to {most} letters is not a range up to {MAX_TEXT}"
            )),
            Generator::Choice { values } if values.is_empty() => {
                refuse(format!("{position}: choice has no values"))
            }
            Generator::Same { argument } if !(1..=earlier).contains(argument) => refuse(format!(
                "{position}: same = {argument} is not an earlier argument; there are {earlier}"
            )),
            _ => Ok(()),
        }
    }
}
