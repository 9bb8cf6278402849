//! The threads of a load, from spawning to exit.
//!
//! In: a job, and a workload for each worker. Out: ready workers, started together by `go`;
//! messages when a worker is ready, fails or leaves. Called by `run::conduct`; the workloads add
//! the workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::Nanos;
use crate::error::{EngineError, Result};
use crate::input::Input;
use crate::job::Job;
use crate::job::tpcc::Pause;
use crate::load::inbox::Message;
use crate::load::pace::{Closed, Open, Pausing};
use crate::load::pauses::Pauses;
use crate::load::schedule::{Backlog, Schedule};
use crate::load::stop::OnRequest;
use crate::load::worker::Worker;
use crate::load::workload::Workload;
use crate::machine;
use crate::random::generator;
use crate::record::interval::SharedTally;

/// Small, since the loop is shallow and a sync load may have thousands of threads.
const STACK_BYTES: usize = 256 << 10;
/// The number of the first generator of pauses; those below draw operations.
const PAUSE_DRAWS: u64 = 1 << 32;

pub struct Workers {
    /// One list per stream of the load.
    tallies: Vec<Vec<SharedTally>>,
    stop: OnRequest,
    gate: Arc<Gate>,
    schedule: Option<Arc<Schedule>>,
    pauses: Option<Vec<Pause>>,
    seed: u64,
    first_connection: u64,
    not_ready: usize,
    not_left: usize,
}

/// Holds the workers back until all are ready, so that the clock starts for all at once.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self
                .opened
                .wait(open)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}

impl Workers {
    /// An empty set of workers.
    pub fn of(job: &Job) -> Workers {
        // Other load hosts have other arrivals.
        let arrivals = job.seed ^ (job.load.first_connection as u64) << 32;
        Workers {
            tallies: Vec::new(),
            stop: OnRequest::default(),
            gate: Arc::default(),
            schedule: job
                .load
                .rate_per_s
                .map(|rate| Arc::new(Schedule::new(rate, job.load.arrivals, arrivals))),
            pauses: job.workload.pauses(),
            seed: job.seed,
            first_connection: job.load.first_connection as u64,
            not_ready: 0,
            not_left: 0,
        }
    }

    /// Assigns the workers started from now on to the next stream of the load.
    pub fn begin_stream(&mut self) {
        self.tallies.push(Vec::new());
    }

    /// Starts one worker of the last stream. `make` runs on the worker's thread, since a ring
    /// belongs to the thread that created it.
    pub fn start<W: Workload>(
        &mut self,
        sender: &Sender<Message>,
        make: impl FnOnce() -> Result<W> + Send + 'static,
    ) -> Result<()> {
        let tally = SharedTally::default();
        if let Some(stream) = self.tallies.last_mut() {
            stream.push(tally.clone());
        }
        let (sender, gate, stop) = (sender.clone(), Arc::clone(&self.gate), self.stop.clone());
        let schedule = self.schedule.clone();
        let rng = generator(
            self.seed,
            PAUSE_DRAWS + self.first_connection + self.not_ready as u64,
        );
        let pauses = self
            .pauses
            .clone()
            .map(|of_kinds| Pauses::new(of_kinds, rng));
        let work = move || {
            // Sending cannot fail: the receiver lives until the process ends.
            let send = |message| drop(sender.send(message));
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let workload = make()?;
                send(Message::Ready);
                gate.wait();
                match (schedule, pauses) {
                    (None, None) => Worker::new(Closed, stop, workload, tally).work(),
                    (None, Some(pauses)) => {
                        Worker::new(Pausing(pauses), stop, workload, tally).work()
                    }
                    (Some(schedule), _) => {
                        machine::sleep_precisely();
                        Worker::new(Open::new(schedule), stop, workload, tally).work()
                    }
                }
            }));
            match outcome {
                Ok(Ok(())) => {}
                Ok(Err(error)) => send(Message::Failed(error)),
                Err(_) => send(Message::Failed(EngineError::panicked("a worker"))),
            }
            send(Message::Left);
        };
        thread::Builder::new()
            .name("worker".into())
            .stack_size(STACK_BYTES)
            .spawn(work)
            .map_err(|cause| EngineError::no_thread(&cause))?;
        self.not_ready += 1;
        self.not_left += 1;
        Ok(())
    }

    /// Waits for every worker. Returns `None` when stdin ends meanwhile. Appends commands that
    /// arrive early to `early`.
    pub fn wait_until_ready(
        &mut self,
        inbox: &Receiver<Message>,
        mut early: Vec<String>,
    ) -> Result<Option<Vec<String>>> {
        while self.not_ready > 0 {
            match inbox.recv() {
                Ok(Message::Ready) => self.not_ready -= 1,
                Ok(Message::Failed(error)) => return Err(error),
                Ok(Message::Input(Input::Line(line))) => early.push(line),
                Ok(Message::Input(Input::End)) | Err(_) => return Ok(None),
                Ok(Message::Left | Message::Opened) => {}
            }
        }
        Ok(Some(early))
    }

    /// Starts all workers at the time `start`; returns the backlog counter of an open loop's
    /// schedule.
    pub fn go(&self, start: Nanos) -> Option<Backlog> {
        let backlog = self.schedule.as_ref().map(|schedule| schedule.begin(start));
        self.gate.open();
        backlog
    }

    pub fn stop(&self) {
        self.stop.ask();
    }

    /// Whether all workers have left within `patience`. The end of stdin does not shorten the wait,
    /// as the load is already stopped.
    pub fn wait_until_left(&mut self, inbox: &Receiver<Message>, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.not_left > 0 {
            match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Message::Left) => self.not_left -= 1,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// One list per stream of the load.
    pub fn tallies(&self) -> Vec<Vec<SharedTally>> {
        self.tallies.clone()
    }

    pub fn count(&self) -> usize {
        self.tallies.iter().map(Vec::len).sum()
    }
}
