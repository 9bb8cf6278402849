//! Transactions executed over many connections at once, by one thread.
//!
//! In: a script, and connections that never block. Out: a `Workload` with a slot for each
//! connection. Every connection has one statement under way; after its answer, the next is sent.
//! Called by `load::worker`.

use super::embedded::ATTEMPTS;
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
use crate::operation::OperationKind;
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

pub struct Socket<C, S> {
    recipe: Recipe,
    lanes: Vec<Lane<C>>,
    epoll: Epoll,
    ready: Vec<Slot>,
    script: S,
    counts: Statements,
}

struct Lane<C> {
    connection: C,
    transaction: Transaction,
    current: LaneStep,
    attempts: u32,
    failure: Option<DbError>,
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
                current: LaneStep::Step(0),
                attempts: 0,
                failure: None,
            });
        }
        Ok(Socket {
            recipe,
            lanes,
            epoll,
            ready: Vec::with_capacity(connections),
            script,
            counts: Statements::default(),
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
            Err(error) => self.reconnect(slot, error),
        }
    }

    /// Continues a lane that has something to read; returns whether its transaction is over.
    #[inline]
    fn advance(&mut self, slot: Slot) -> Result<Option<Outcome>> {
        let lane = &mut self.lanes[slot];
        match (lane.connection.receive(), lane.current) {
            (Ok(None), _) => Ok(None),
            (Ok(Some(_)), LaneStep::Step(step)) => {
                let (statement, _) = lane.transaction.get(step);
                self.counts.count(self.recipe.statements[statement].kind);
                if step + 1 < lane.transaction.len() {
                    self.send(slot, step + 1)?;
                    return Ok(None);
                }
                self.counts.rollbacks += u64::from(lane.transaction.rolls_back);
                Ok(Some(Outcome::Done { bytes: 0 }))
            }
            (Ok(Some(_)), LaneStep::RollingBack) => self.taken_back(slot),
            (Err(error), LaneStep::Step(_)) if error.kind != DbErrorKind::Lost => {
                lane.failure = Some(error);
                lane.current = LaneStep::RollingBack;
                if let Err(error) = lane.connection.send(ROLLBACK, Arguments::NONE) {
                    self.reconnect(slot, error)?;
                }
                Ok(None)
            }
            (Err(error), _) => {
                self.reconnect(slot, error)?;
                Ok(None)
            }
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
        self.send(slot, 0)?;
        Ok(None)
    }

    /// Opens a new connection in place of a lost one, and repeats the transaction.
    #[cold]
    fn reconnect(&mut self, slot: Slot, error: DbError) -> Result<()> {
        if error.kind != DbErrorKind::Lost {
            return Err(error.at(&self.recipe.address));
        }
        let lost = error.at(&self.recipe.address);
        let connection: C = self.recipe.open().map_err(|failure| {
            let message = format!("{}; connecting again failed: {failure}", lost.message);
            EngineError { message, ..lost }
        })?;
        self.epoll.add(connection.fd(), slot)?;
        let lane = &mut self.lanes[slot];
        lane.connection = connection;
        self.counts.reconnects += 1;
        self.counts.retries += 1;
        self.send(slot, 0)
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
        self.script.draw(&mut lane.transaction);
        self.send(slot, 0)?;
        Ok(Submitted::Pending)
    }

    fn reap(&mut self, deadline: Option<Nanos>, completions: &mut Vec<Completion>) -> Result<()> {
        while completions.is_empty() {
            let mut ready = std::mem::take(&mut self.ready);
            self.epoll.wait(deadline, &mut ready)?;
            for &slot in &ready {
                if let Some(outcome) = self.advance(slot)? {
                    completions.push(Completion {
                        slot,
                        kind: OperationKind::Transaction,
                        outcome,
                    });
                }
            }
            let is_late = ready.is_empty();
            self.ready = ready;
            if is_late && deadline.is_some() {
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
