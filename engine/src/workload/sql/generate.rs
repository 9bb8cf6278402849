//! Values drawn for the arguments of a user's statements.
//!
//! In: a job's generators, a random generator. Out: arguments. Called by `mix` and `prepare`.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::db::argument::ArgumentList;
use crate::job::generator::{Generator, Literal, Preferred};
use crate::workload::fileio::distribution::{BlockDistribution, Shape, below, unit};

const LETTERS: u64 = 26;

/// The state shared by the draws of one worker.
pub struct Draws {
    pub rng: Xoshiro256PlusPlus,
    /// The next number of a sequence, counted from its start, and the step to the following one.
    pub next: i64,
    pub step: i64,
    /// The position of the latest value of each argument, in the order in which they are written.
    positions: Vec<usize>,
}

impl Draws {
    pub fn new(rng: Xoshiro256PlusPlus, next: i64, step: i64) -> Draws {
        Draws {
            rng,
            next,
            step,
            positions: Vec::new(),
        }
    }
}

/// Draws the arguments of one statement.
pub struct Generators {
    /// The number of arguments written before these.
    earlier: usize,
    list: Vec<ValueSource>,
}

enum ValueSource {
    Int {
        low: i64,
        distribution: BlockDistribution,
    },
    Float {
        low: f64,
        high: f64,
    },
    Text {
        least: u64,
        most: u64,
    },
    Digits(String),
    Choice(Vec<Literal>),
    Sequence(i64),
    /// Indexed by the argument's number from 0.
    Same(usize),
    Null,
}

impl Generators {
    pub fn new(generators: &[Generator], earlier: usize) -> Generators {
        Generators {
            earlier,
            list: generators.iter().map(ValueSource::new).collect(),
        }
    }

    #[inline]
    pub fn draw(&self, draws: &mut Draws, arguments: &mut ArgumentList) {
        for (number, drawn) in self.list.iter().enumerate() {
            let (number, position) = (self.earlier + number, arguments.len());
            if draws.positions.len() <= number {
                draws.positions.resize(number + 1, 0);
            }
            draws.positions[number] = position;
            drawn.draw(draws, arguments);
        }
    }
}

impl ValueSource {
    fn new(generator: &Generator) -> ValueSource {
        match generator {
            &Generator::Int {
                low,
                high,
                distribution,
                zipf_exponent,
                pareto_h,
            } => {
                let shape = match distribution {
                    Preferred::Uniform => Shape::Uniform,
                    Preferred::Zipf => Shape::Zipf {
                        exponent: zipf_exponent,
                    },
                    Preferred::Pareto => Shape::Pareto { h: pareto_h },
                };
                ValueSource::Int {
                    low,
                    distribution: BlockDistribution::new(shape, low.abs_diff(high) + 1),
                }
            }
            &Generator::Float { low, high } => ValueSource::Float { low, high },
            &Generator::Text { least, most } => ValueSource::Text {
                least: u64::from(least),
                most: u64::from(most),
            },
            Generator::Digits { pattern } => ValueSource::Digits(pattern.clone()),
            Generator::Choice { values } => ValueSource::Choice(values.clone()),
            &Generator::Sequence { start } => ValueSource::Sequence(start),
            &Generator::Same { argument } => ValueSource::Same(argument - 1),
            Generator::Null {} => ValueSource::Null,
        }
    }

    fn draw(&self, draws: &mut Draws, arguments: &mut ArgumentList) {
        let rng = &mut draws.rng;
        match self {
            ValueSource::Int { low, distribution } => {
                arguments.int(low.wrapping_add(distribution.draw(rng) as i64));
            }
            ValueSource::Float { low, high } => arguments.float(low + unit(rng) * (high - low)),
            ValueSource::Text { least, most } => {
                let letters = least + below(most - least + 1, rng);
                arguments.text(|text| {
                    text.extend((0..letters).map(|_| letter(b'a', LETTERS, rng)));
                });
            }
            ValueSource::Digits(pattern) => arguments.text(|text| {
                text.extend(pattern.chars().map(|symbol| match symbol {
                    '#' => letter(b'0', 10, rng),
                    other => other,
                }));
            }),
            ValueSource::Choice(values) => {
                match &values[below(values.len() as u64, rng) as usize] {
                    Literal::Int(value) => arguments.int(*value),
                    Literal::Float(value) => arguments.float(*value),
                    Literal::Text(value) => arguments.text(|text| text.push_str(value)),
                }
            }
            ValueSource::Sequence(start) => {
                arguments.int(start.wrapping_add(draws.next));
                draws.next = draws.next.wrapping_add(draws.step);
            }
            ValueSource::Same(number) => arguments.repeat(draws.positions[*number]),
            ValueSource::Null => arguments.null(),
        }
    }
}

/// One of `count` letters from `first` on.
fn letter(first: u8, of: u64, rng: &mut impl RngCore) -> char {
    char::from(first + below(of, rng) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::argument::Argument;
    use crate::random::generator;
    use serde_json::json;

    #[test]
    fn every_sort_of_value_is_drawn_in_its_range() {
        let generators: Vec<Generator> = serde_json::from_value(json!([
            {"draw": "int", "low": -5, "high": 5, "distribution": "zipf"},
            {"draw": "float", "low": 1.0, "high": 1.5},
            {"draw": "text", "least": 2, "most": 4},
            {"draw": "digits", "pattern": "#-ä#"},
            {"draw": "choice", "values": [7, 0.5, "x"]},
            {"draw": "sequence", "start": 100},
            {"draw": "same", "argument": 3},
            {"draw": "null"},
        ]))
        .unwrap();
        let generators = Generators::new(&generators, 0);
        let mut draws = Draws::new(generator(1, 0), 2, 3);
        let mut list = ArgumentList::default();
        for round in 0..1000 {
            list.clear();
            generators.draw(&mut draws, &mut list);
            let values: Vec<_> = list.range(0..8).iter().collect();
            use Argument::{Float, Int, Null, Text};
            let [
                Int(int),
                Float(float),
                Text(text),
                Text(digits),
                choice,
                sequence,
                same,
                Null,
            ] = values[..]
            else {
                panic!("{values:?}");
            };
            assert!((-5..=5).contains(&int) && (1.0..1.5).contains(&float));
            assert!((2..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase()));
            assert!(digits.len() == 5 && digits.contains("-ä") && digits.as_bytes()[0] <= b'9');
            assert!([Int(7), Float(0.5), Text("x")].contains(&choice));
            assert_eq!((sequence, same), (Int(102 + 3 * round), Text(text)));
        }
    }
}
