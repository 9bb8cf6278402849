//! Block devices: their identity beyond their names, and their users.
//!
//! In: paths, numbers and open descriptors. Out: identities with their differences, and lists of
//! users. Called by `main`, `io::device`, `confine` and `journal`.

mod facts;
pub mod identity;
pub mod stacked;
pub mod users;

pub use identity::DeviceIdentity;
pub use stacked::{Driver, StackedDevice};
