//! What workers record and how stretches of it are put together.

mod counts;
pub mod histogram;
pub mod statements;
pub mod stretch;
pub mod tally;
