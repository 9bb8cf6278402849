//! Connections that are lost, and new ones in their place.
//!
//! In: a lane whose connection failed. Out: its transaction begun again, or an error when the server
//! is away for too long. Called by `socket`.

use super::Socket;
use crate::clock::{self, Nanos};
use crate::db::Connection;
use crate::db::error::{DbError, DbErrorKind};
use crate::error::{EngineError, Result};
use crate::operation::Slot;
use crate::workload::sql::embedded::ATTEMPTS;
use crate::workload::sql::outage::Outage;
use crate::workload::sql::transaction::Script;

impl<C: Connection, S: Script> Socket<C, S> {
    /// Gives up a connection. A transaction that was under way is repeated over a new one; without
    /// one, the next transaction opens it.
    #[cold]
    pub(super) fn lose(&mut self, slot: Slot, error: DbError) -> Result<()> {
        let lost = error.at(&self.recipe.address);
        if error.kind != DbErrorKind::Lost {
            return Err(lost);
        }
        let lane = &mut self.lanes[slot];
        if !lane.is_lost {
            // A dead connection always has something to read.
            self.epoll.remove(lane.connection.fd())?;
            lane.is_lost = true;
        }
        if lane.is_busy {
            self.connect_again(slot, lost)
        } else {
            Ok(())
        }
    }

    /// Opens a connection for a lane without one, unless the server is known to be away.
    #[cold]
    pub(super) fn connect_again(&mut self, slot: Slot, lost: EngineError) -> Result<()> {
        if self.lanes[slot].attempts >= ATTEMPTS {
            return Err(lost);
        }
        self.lanes[slot].attempts += 1;
        if let Some(outage) = &mut self.outage {
            outage.add(slot);
            return Ok(());
        }
        match self.recipe.open() {
            Ok(connection) => self.continue_over(slot, connection),
            Err(failure) => self.wait_for_server(slot, lost, &failure),
        }
    }

    /// Leaves a lane without a connection until the server is back; an error where that takes too long.
    #[cold]
    fn wait_for_server(
        &mut self,
        slot: Slot,
        lost: EngineError,
        failure: &EngineError,
    ) -> Result<()> {
        let (now, patience_s) = (clock::now(), self.recipe.server.outage_s);
        let outage = self
            .outage
            .get_or_insert_with(|| Outage::new(lost, patience_s, now));
        outage.add(slot);
        outage.postpone(failure, now)
    }

    /// Tries to reach a server that is away, when it is time, for one lane; returns when to be
    /// called again. Between two lanes, those that have a connection are served.
    #[cold]
    pub(super) fn try_server(&mut self) -> Result<Option<Nanos>> {
        let Some(outage) = &mut self.outage else {
            return Ok(None);
        };
        let Some(slot) = outage.next() else {
            self.outage = None;
            return Ok(None);
        };
        let now = clock::now();
        if now < outage.next_attempt {
            return Ok(Some(outage.next_attempt));
        }
        match self.recipe.open() {
            Ok(connection) => {
                outage.remove(slot);
                if outage.end() {
                    self.counts.lost += self.script.count_lost()?;
                }
                self.continue_over(slot, connection)?;
                Ok(Some(now))
            }
            Err(failure) => {
                outage.postpone(&failure, clock::now())?;
                Ok(Some(outage.next_attempt))
            }
        }
    }

    /// Begins a lane's transaction, or repeats it, over a new connection.
    fn continue_over(&mut self, slot: Slot, connection: C) -> Result<()> {
        self.epoll.add(connection.fd(), slot)?;
        let lane = &mut self.lanes[slot];
        lane.connection = connection;
        lane.is_lost = false;
        self.counts.reconnects += 1;
        self.counts.retries += 1;
        self.script.repeat(&mut lane.transaction, &mut lane.state);
        self.send(slot, 0)
    }
}
