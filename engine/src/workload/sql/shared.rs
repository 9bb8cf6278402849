//! What is known of a database before a load starts: that the tables are there.
//!
//! In: the job's parameters. Out: the name of the place, for people. Called by `workload::shared`.

use super::prepare;
use crate::error::Result;
use crate::job::sql::Sql;

pub struct Shared {
    pub place: String,
}

impl Shared {
    pub fn open(sql: &Sql) -> Result<Shared> {
        prepare::check(sql)?;
        Ok(Shared {
            place: sql.database().place(),
        })
    }
}
