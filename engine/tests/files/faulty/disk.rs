//! The rules of the faulty storage, and the exact account of its answers.
//!
//! In: rules of a test; one question per operation of the kernel. Out: the answer to each, and
//! their counts. Called by `pass` and by tests.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Answer, Kind, Rule};

/// A failing test must not leave the engine waiting for the kernel.
const LONGEST_HOLD: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(20);

/// The counts of answers, without the held operations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    pub reads: u64,
    pub writes: u64,
    pub fsyncs: u64,
    pub short_reads: u64,
    pub short_writes: u64,
    /// By error number.
    pub errors: BTreeMap<i32, u64>,
}

impl Answered {
    /// The answers after `earlier`.
    pub fn since(&self, earlier: &Answered) -> Answered {
        let errors = self.errors.iter().map(|(errno, count)| {
            let before = earlier.errors.get(errno).copied().unwrap_or_default();
            (*errno, count - before)
        });
        Answered {
            reads: self.reads - earlier.reads,
            writes: self.writes - earlier.writes,
            fsyncs: self.fsyncs - earlier.fsyncs,
            short_reads: self.short_reads - earlier.short_reads,
            short_writes: self.short_writes - earlier.short_writes,
            errors: errors.collect(),
        }
    }
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    delay: Duration,
    /// Bytes that may still be written before the space is used up.
    room: Option<u64>,
    holds: bool,
    held: usize,
    answered: Answered,
}

#[derive(Default)]
pub struct Disk {
    state: Mutex<State>,
    changed: Condvar,
}

impl Disk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces all rules; the first matching rule applies.
    pub fn obey(&self, rules: Vec<Rule>) {
        self.state().rules = rules;
    }

    pub fn delay(&self, delay: Duration) {
        self.state().delay = delay;
    }

    pub fn leave_room(&self, bytes: Option<u64>) {
        self.state().room = bytes;
    }

    /// Answers nothing until `release`.
    pub fn hold(&self) {
        self.state().holds = true;
    }

    pub fn release(&self) {
        self.state().holds = false;
        self.changed.notify_all();
    }

    /// Waits until exactly this many operations are held: then no other one is in flight.
    pub fn wait_until_held(&self, count: usize) {
        let state = self.state();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, PATIENCE, |state| state.held != count)
            .unwrap();
        let held = state.held;
        drop(state);
        assert_eq!(held, count, "operations held");
    }

    pub fn answered(&self) -> Answered {
        self.state().answered.clone()
    }

    /// The answer to an operation; returns after the operation's delay.
    pub(super) fn decide(&self, kind: Kind, offset: u64, length: u64) -> Answer {
        let delay = self.state().delay;
        thread::sleep(delay);
        let mut state = self.wait_while_held();
        let fits = |rule: &&Rule| {
            rule.kind == kind
                && rule.range.start < offset + length.max(1)
                && rule.range.end > offset
        };
        let mut answer = state
            .rules
            .iter()
            .find(fits)
            .map_or(Answer::Honest, |rule| rule.answer);
        if kind == Kind::Write && answer == Answer::Honest {
            match &mut state.room {
                Some(room) if *room < length => answer = Answer::Error(libc::ENOSPC),
                Some(room) => *room -= length,
                None => {}
            }
        }
        let answered = &mut state.answered;
        match (answer, kind) {
            (Answer::Error(errno), _) => *answered.errors.entry(errno).or_default() += 1,
            (Answer::Short(_), Kind::Read) => answered.short_reads += 1,
            (Answer::Short(_), _) => answered.short_writes += 1,
            (_, Kind::Read) => answered.reads += 1,
            (_, Kind::Write) => answered.writes += 1,
            (_, Kind::Fsync) => answered.fsyncs += 1,
        }
        answer
    }

    fn wait_while_held(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if state.holds {
            state.held += 1;
            self.changed.notify_all();
            let until = Instant::now() + LONGEST_HOLD;
            while state.holds && Instant::now() < until {
                let left = until.saturating_duration_since(Instant::now());
                state = self.changed.wait_timeout(state, left).unwrap().0;
            }
            state.held -= 1;
        }
        state
    }
}
