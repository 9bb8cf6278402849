//! Transactions executed over many connections at once, by one thread.
//!
//! In: a script, and connections that never block. Out: a `Workload` with a slot for each
//! connection. Every connection has one statement under way; after its answer, the next is sent.
//! Called by `load::worker`.

mod reconnect;

use super::embedded::ATTEMPTS;
use super::outage::Outage;
use super::transaction::{ROLLBACK, Script, Transaction};
use crate::clock::Nanos;
use crate::db::argument::Arguments;
use crate::db::error::{DbError, DbErrorKind};
use crate::db::server::Server;
use crate::db::statement::Statement;
use crate::db::{Connection, Execution};
use crate::error::{EngineError, Result};
use crate::io::epoll::Epoll;
use crate::load::workload::Workload;
use crate::operation::{Completion, Failure, Outcome, Slot, Submitted};
use crate::record::statements::Statements;
use crate::record::tally::Tally;

/// Creates a connection, the first time and after a loss.
pub struct Recipe {
    pub server: Server,
    /// The database's name, for messages.
    pub address: String,
    pub statements: std::sync::Arc<Vec<Statement>>,
    pub execution: Execution,
}

impl Recipe {
    fn open<C: Connection>(&self) -> Result<C> {
        C::open(&self.server, &self.statements, self.execution)
            .map_err(|error| error.at(&self.address))
    }
}

pub struct Socket<C, S: Script> {
    recipe: Recipe,
    lanes: Vec<Lane<C, S::State>>,
    epoll: Epoll,
    ready: Vec<Slot>,
    script: S,
    counts: Statements,
    outage: Option<Outage>,
}

struct Lane<C, T> {
    connection: C,
    transaction: Transaction,
    state: T,
    current: LaneStep,
    attempts: u32,
    failure: Option<DbError>,
    /// Whether a transaction is under way.
    is_busy: bool,
    /// Whether the connection is lost, and not watched any more.
    is_lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneStep {
    Step(usize),
    /// Rolling back a failed transaction, which is then repeated or has failed permanently.
    RollingBack,
}

impl<C: Connection, S: Script> Socket<C, S> {
    /// Opens this many connections.
    pub fn open(recipe: Recipe, connections: usize, script: S) -> Result<Self> {
        let mut lanes = Vec::with_capacity(connections);
        let mut epoll = Epoll::new()?;
        for slot in 0..connections {
            let connection: C = recipe.open()?;
            epoll.add(connection.fd(), slot)?;
            lanes.push(Lane {
                connection,
                transaction: Transaction::default(),
                state: S::State::default(),
                current: LaneStep::Step(0),
                attempts: 0,
                failure: None,
                is_busy: false,
                is_lost: false,
            });
        }
        Ok(Socket {
            recipe,
            lanes,
            epoll,
            ready: Vec::with_capacity(connections),
            script,
            counts: Statements::default(),
            outage: None,
        })
    }

    /// Sends the statement of the lane's step.
    #[inline]
    fn send(&mut self, slot: Slot, step: usize) -> Result<()> {
        let lane = &mut self.lanes[slot];
        lane.current = LaneStep::Step(step);
        let (statement, arguments) = lane.transaction.get(step);
        match lane.connection.send(statement, arguments) {
            Ok(()) => Ok(()),
            Err(error) => self.lose(slot, error),
        }
    }

    /// Continues a lane that has something to read; returns whether its transaction is over.
    #[inline]
    fn advance(&mut self, slot: Slot) -> Result<Option<Outcome>> {
        let lane = &mut self.lanes[slot];
        let received = lane.connection.receive();
        if !lane.is_busy {
            if let Err(error) = received {
                let kind = DbErrorKind::Lost;
                self.lose(slot, DbError { kind, ..error })?;
            }
            return Ok(None);
        }
        match (received, lane.current) {
            (Ok(None), _) => Ok(None),
            (Ok(Some(_)), LaneStep::Step(step)) => {
                let (statement, _) = lane.transaction.get(step);
                self.counts.count(self.recipe.statements[statement].kind);
                if step + 1 == lane.transaction.len() {
                    let values = lane.connection.values();
                    let gone_on = self
                        .script
                        .go_on(&mut lane.transaction, &mut lane.state, values);
                    if let Err(error) = gone_on {
                        self.take_back(slot, error)?;
                        return Ok(None);
                    }
                }
                if step + 1 < self.lanes[slot].transaction.len() {
                    self.send(slot, step + 1)?;
                    return Ok(None);
                }
                let lane = &self.lanes[slot];
                self.counts.rollbacks += u64::from(lane.transaction.rolls_back);
                self.counts.skipped += u64::from(lane.transaction.skipped);
                Ok(Some(Outcome::Done { bytes: 0 }))
            }
            (Ok(Some(_)), LaneStep::RollingBack) => self.taken_back(slot),
            (Err(error), LaneStep::Step(_)) if error.kind != DbErrorKind::Lost => {
                self.take_back(slot, error)?;
                Ok(None)
            }
            (Err(error), _) => {
                self.lose(slot, error)?;
                Ok(None)
            }
        }
    }

    /// Rolls back a transaction that has failed.
    #[cold]
    fn take_back(&mut self, slot: Slot, error: DbError) -> Result<()> {
        let lane = &mut self.lanes[slot];
        lane.failure = Some(error);
        lane.current = LaneStep::RollingBack;
        match lane.connection.send(ROLLBACK, Arguments::NONE) {
            Ok(()) => Ok(()),
            Err(error) => self.lose(slot, error),
        }
    }

    /// The next step after an unintended rollback.
    #[cold]
    fn taken_back(&mut self, slot: Slot) -> Result<Option<Outcome>> {
        let lane = &mut self.lanes[slot];
        match lane.failure.as_ref().map(|error| error.kind) {
            Some(DbErrorKind::Conflict) => self.counts.conflicts += 1,
            Some(DbErrorKind::LockTimeout) => self.counts.lock_timeouts += 1,
            _ => return Ok(Some(Outcome::Failed(Failure::Statement))),
        }
        if lane.attempts == ATTEMPTS {
            return Ok(Some(Outcome::Failed(Failure::Statement)));
        }
        lane.attempts += 1;
        self.counts.retries += 1;
        self.script.repeat(&mut lane.transaction, &mut lane.state);
        self.send(slot, 0)?;
        Ok(None)
    }
}

impl<C: Connection, S: Script> Workload for Socket<C, S> {
    fn slots(&self) -> usize {
        self.lanes.len()
    }

    #[inline]
    fn submit(&mut self, slot: Slot) -> Result<Submitted> {
        let lane = &mut self.lanes[slot];
        lane.attempts = 1;
        lane.transaction.clear();
        self.script.draw(&mut lane.transaction, &mut lane.state);
        lane.is_busy = true;
        if lane.is_lost {
            let lost = DbError::lost("the server has closed the connection");
            self.connect_again(slot, lost.at(&self.recipe.address))?;
        } else {
            self.send(slot, 0)?;
        }
        Ok(Submitted::Pending)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        while completions.is_empty() {
            let retry = match self.outage {
                None => None,
                Some(_) => self.try_server()?,
            };
            let until = retry.map_or(deadline, |retry| {
                Some(deadline.map_or(retry, |deadline| deadline.min(retry)))
            });
            let mut ready = std::mem::take(&mut self.ready);
            self.epoll.wait(until, &mut ready)?;
            for &slot in &ready {
                if let Some(outcome) = self.advance(slot)? {
                    self.lanes[slot].is_busy = false;
                    completions.push(Completion {
                        slot,
                        kind: self.lanes[slot].transaction.operation(),
                        outcome,
                    });
                }
            }
            let is_late = ready.is_empty();
            self.ready = ready;
            if is_late && until.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn explain(&self, slot: Slot, _failure: Failure) -> EngineError {
        match &self.lanes[slot].failure {
            Some(error) => error.at(&self.recipe.address),
            None => DbError::protocol("nothing has failed").at(&self.recipe.address),
        }
    }

    fn hand_over(&mut self, tally: &mut Tally) {
        tally.statements.add(&std::mem::take(&mut self.counts));
    }
}
