//! The ledger: the writes of a run that are known to survive a crash.
//!
//! In: completed writes of each lane, and fsync passes. Out: for each lane the sequence up to which
//! all its writes were acknowledged as durable. Workers call it through `verified`; `run::windows`
//! reports to the controller.
//!
//! A pass fsyncs all files. It confirms only the writes that had completed before its first fsync
//! started. A write that completes during the pass may have missed its file. So a pass copies the
//! sequences at its beginning, and they count when it has succeeded.
//!
//! The kernel reports a failed writeback to one fsync only and then forgets it. Of concurrent
//! passes, any one may receive that error. So a pass counts only when all passes that overlap it
//! have succeeded. After a failed pass no later pass confirms anything. With O_SYNC or O_DSYNC each
//! completed write is durable by itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::block::Sequence;

pub struct Ledger {
    /// By lane: the sequence up to which all writes have completed.
    written: Vec<AtomicU64>,
    each_write_is_durable: bool,
    book: Mutex<Book>,
}

struct Book {
    durable: Vec<u64>,
    /// Whether `durable` was reported last.
    is_reported: bool,
    failed: bool,
    passes_begun: u64,
    under_way: Vec<u64>,
    waiting: Vec<Waiting>,
}

/// A pass that has succeeded while others were under way.
struct Waiting {
    for_passes: Vec<u64>,
    written: Vec<u64>,
}

/// One fsync of every file.
pub struct Pass {
    number: u64,
    written: Vec<u64>,
}

impl Pass {
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Ledger {
    pub fn new(lanes: usize, first: Sequence, each_write_is_durable: bool) -> Ledger {
        Ledger {
            written: (0..lanes).map(|_| AtomicU64::new(first.0)).collect(),
            each_write_is_durable,
            book: Mutex::new(Book {
                durable: vec![first.0; lanes],
                is_reported: true,
                failed: false,
                passes_begun: 0,
                under_way: Vec::new(),
                waiting: Vec::new(),
            }),
        }
    }

    /// Records that this write of a lane, and all before it, have completed.
    pub fn wrote(&self, lane: usize, sequence: Sequence) {
        self.written[lane].store(sequence.0, Ordering::Release);
    }

    /// Must be called before the first fsync starts.
    pub fn begin_pass(&self) -> Pass {
        let mut book = self.book();
        book.passes_begun += 1;
        let number = book.passes_begun;
        book.under_way.push(number);
        Pass {
            number,
            written: self.written(),
        }
    }

    /// Records that all fsyncs of the pass have completed.
    pub fn end_pass(&self, pass: Pass, succeeded: bool) {
        let mut book = self.book();
        book.under_way.retain(|&number| number != pass.number);
        if !succeeded {
            book.failed = true;
            return;
        }
        let mut waiting = std::mem::take(&mut book.waiting);
        waiting.push(Waiting {
            for_passes: book.under_way.clone(),
            written: pass.written,
        });
        for mut pass_waiting in waiting {
            pass_waiting
                .for_passes
                .retain(|&number| number != pass.number);
            if pass_waiting.for_passes.is_empty() {
                book.confirm(&pass_waiting.written);
            } else {
                book.waiting.push(pass_waiting);
            }
        }
    }

    /// Records that the files were fsynced after the last operation.
    pub fn all_is_synced(&self) {
        self.book().confirm(&self.written());
    }

    /// By lane the durable sequence, when it has grown since the last report.
    pub fn unreported(&self) -> Option<Vec<u64>> {
        let mut book = self.book();
        if self.each_write_is_durable {
            book.confirm(&self.written());
        }
        if std::mem::replace(&mut book.is_reported, true) {
            return None;
        }
        Some(book.durable.clone())
    }

    fn written(&self) -> Vec<u64> {
        let all = self.written.iter();
        all.map(|sequence| sequence.load(Ordering::Acquire))
            .collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Marks everything in `written` as durable; a sequence never decreases.
    fn confirm(&mut self, written: &[u64]) {
        if self.failed {
            return;
        }
        for (durable, &completed) in self.durable.iter_mut().zip(written) {
            if completed > *durable {
                *durable = completed;
                self.is_reported = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Sequence = Sequence(1 << 40);

    fn after(count: u64) -> Sequence {
        Sequence(FIRST.0 + count)
    }

    fn ledger(lanes: usize) -> Ledger {
        Ledger::new(lanes, FIRST, false)
    }

    #[test]
    fn a_pass_vouches_for_what_was_written_before_it_began() {
        let ledger = ledger(2);
        assert_eq!(ledger.unreported(), None);
        ledger.wrote(0, after(3));
        let pass = ledger.begin_pass();
        ledger.wrote(1, after(1));
        assert_eq!(ledger.unreported(), None, "nothing was fsynced yet");
        ledger.end_pass(pass, true);
        assert_eq!(ledger.unreported(), Some(vec![after(3).0, FIRST.0]));
        assert_eq!(ledger.unreported(), None, "it is told once");
        ledger.all_is_synced();
        assert_eq!(ledger.unreported(), Some(vec![after(3).0, after(1).0]));
    }

    #[test]
    fn passes_that_overlap_count_when_all_of_them_have_succeeded() {
        let ledger = ledger(1);
        ledger.wrote(0, after(1));
        let early = ledger.begin_pass();
        ledger.wrote(0, after(2));
        let late = ledger.begin_pass();
        ledger.end_pass(late, true);
        assert_eq!(
            ledger.unreported(),
            None,
            "the early one may have got the error"
        );
        let latest = ledger.begin_pass();
        ledger.end_pass(early, true);
        assert_eq!(
            ledger.unreported(),
            Some(vec![after(2).0]),
            "nothing is taken back"
        );
        ledger.end_pass(latest, true);
        assert_eq!(ledger.unreported(), None);
    }

    #[test]
    fn after_a_failed_fsync_nothing_more_is_vouched_for() {
        let ledger = ledger(1);
        ledger.wrote(0, after(1));
        ledger.end_pass(ledger.begin_pass(), true);
        ledger.wrote(0, after(2));
        let (failing, concurrent) = (ledger.begin_pass(), ledger.begin_pass());
        ledger.end_pass(concurrent, true);
        ledger.end_pass(failing, false);
        ledger.end_pass(ledger.begin_pass(), true);
        ledger.all_is_synced();
        assert_eq!(ledger.unreported(), Some(vec![after(1).0]));
        assert_eq!(ledger.unreported(), None);
    }

    #[test]
    fn synchronous_writes_are_durable_when_they_have_completed() {
        let ledger = Ledger::new(1, FIRST, true);
        ledger.wrote(0, after(5));
        assert_eq!(ledger.unreported(), Some(vec![after(5).0]));
    }
}
