//! The records of workers, and their intervals.

mod counts;
pub mod histogram;
pub mod interval;
pub mod statements;
pub mod tally;
