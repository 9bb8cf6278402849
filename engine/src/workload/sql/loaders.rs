//! Several threads that fill tables at once.
//!
//! In: work in parts. Out: the work done, or stopped. Called by the loaders of tables.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::db::database::{Database, SqliteFile};
use crate::db::error::{DbError, DbResult};
use crate::load::stop::OnRequest;
use crate::machine;

/// More threads would only wait for each other.
const MOST_LOADERS: usize = 8;
const GLANCE: Duration = Duration::from_millis(50);

/// Runs work on a suitable number of threads. Each takes a part at a time until none is left or a
/// halt is requested. Calls `report_progress` now and then. Returns false where it was stopped.
pub fn share_out(
    database: &Database,
    stop: &OnRequest,
    report_progress: &dyn Fn(),
    work: &(dyn Fn(&AtomicBool) -> DbResult<()> + Sync),
) -> DbResult<bool> {
    let halt = AtomicBool::new(false);
    let work = || work(&halt).inspect_err(|_| halt.store(true, Ordering::Relaxed));
    let threads = match database {
        Database::Sqlite(_) => 1,
        _ => machine::cores_usable().min(MOST_LOADERS),
    };
    thread::scope(|scope| {
        let loader = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (0..threads).map_while(loader).collect();
        if threads.is_empty() {
            return Err(DbError::lost("no thread could be started (ulimit -u)"));
        }
        while !threads.iter().all(|thread| thread.is_finished()) {
            thread::sleep(GLANCE);
            report_progress();
            if stop.is_asked() {
                halt.store(true, Ordering::Relaxed);
            }
        }
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(DbError::protocol("a loader has panicked")))
        })
    })?;
    Ok(!stop.is_asked())
}

/// Without waiting for the disk: rows lost in a power cut are recreated.
pub fn unsafe_but_fast(file: &SqliteFile) -> SqliteFile {
    let mut file = file.clone();
    file.pragmas.insert("synchronous".into(), "off".into());
    file
}
