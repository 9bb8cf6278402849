//! What workers record, and its intervals.

mod counts;
pub mod histogram;
pub mod interval;
pub mod statements;
pub mod tally;
