//! The load: workers that carry out operations, generic over pacing, stopping and workload.

pub mod inbox;
pub mod pace;
pub mod pauses;
pub mod schedule;
pub mod stop;
pub mod worker;
pub mod workers;
pub mod workload;
