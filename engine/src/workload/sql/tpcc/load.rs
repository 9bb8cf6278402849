//! Filling TPC-C's tables over several connections, then creating their indexes.
//!
//! In: empty tables. Out: rows. Called by `prepare`.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::definition::create_indexes;
use super::rows;
use super::schema::TABLES;
use crate::db::error::DbResult;
use crate::db::session::Session;
use crate::job::tpcc::Tpcc;
use crate::load::stop::OnRequest;
use crate::workload::sql::chunk::ChunkLoader;
use crate::workload::sql::loaders::share_out;
use crate::workload::sql::schema::Dialect;

/// Fills all tables. Calls `report` with the bytes of the loaded rows. Returns false where it was
/// stopped.
pub fn load(tpcc: &Tpcc, seed: u64, stop: &OnRequest, report: &impl Fn(u64)) -> DbResult<bool> {
    let warehouses = tpcc.warehouses.into();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let loaded = share_out(
        &tpcc.database,
        stop,
        &|| report(done.load(Ordering::Relaxed)),
        &|halt| {
            let tables = TABLES.map(|table| (table.name.to_string(), table.columns.len()));
            let mut loader = ChunkLoader::open(&tpcc.database, &tables)?;
            while !halt.load(Ordering::Relaxed)
                && let Some(chunks) =
                    rows::piece(warehouses, seed, next.fetch_add(1, Ordering::Relaxed))
            {
                for chunk in chunks {
                    loader.load(&chunk)?;
                    done.fetch_add(chunk.lines.len() as u64, Ordering::Relaxed);
                }
            }
            Ok(())
        },
    )?;
    let indexes = create_indexes(Dialect::of(&tpcc.database));
    let next = AtomicUsize::new(0);
    Ok(loaded
        && share_out(&tpcc.database, stop, &|| {}, &|halt| {
            let mut session = Session::open(&tpcc.database.patient(), false)?;
            while !halt.load(Ordering::Relaxed)
                && let Some(statement) = indexes.get(next.fetch_add(1, Ordering::Relaxed))
            {
                session.query(statement)?;
            }
            Ok(())
        })?)
}
