//! The crew: the threads of a load, from hiring to leaving.
//!
//! In: a job and the opened files. Out: ready workers, started together by `go`; messages when one
//! is ready, fails or leaves. Called by `load::carry_out`.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::Nanos;
use crate::error::{Class, EngineError, Result};
use crate::input::Input;
use crate::io::memory::Memory;
use crate::io::null::Null;
use crate::io::sync::Sync;
use crate::io::uring::Uring;
use crate::job::{Engine, Job, Method};
use crate::load::inbox::Message;
use crate::load::pace::{Closed, Open};
use crate::load::schedule::{Backlog, Schedule};
use crate::load::stop::OnRequest;
use crate::load::worker::Worker;
use crate::machine;
use crate::record::stretch::SharedTally;
use crate::workload::Workload;
use crate::workload::fileio::FileIo;
use crate::workload::fileio::content::Content;
use crate::workload::fileio::pattern::{Stream, streams};
use crate::workload::fileio::requests::{Drawn, Requests, generator};
use crate::workload::fileio::shared::Shared;
use crate::workload::fileio::verified::Verifier;

/// One ring serves this many operations before a second core is worth its cost.
const SLOTS_PER_RING: usize = 128;
/// The loop is shallow, and a sync load may have thousands of threads.
const STACK_BYTES: usize = 256 << 10;

pub struct Crew {
    /// By streams of the load.
    tallies: Vec<Vec<SharedTally>>,
    stop: OnRequest,
    gate: Arc<Gate>,
    schedule: Option<Arc<Schedule>>,
    /// Whether some ring could not register its buffers.
    unregistered: Arc<AtomicBool>,
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

impl Crew {
    pub fn hire(job: &Job, shared: &Shared, sender: &Sender<Message>) -> Result<Crew> {
        let engine = job.workload.io().engine;
        let schedule = job
            .load
            .rate_per_s
            .map(|rate| Arc::new(Schedule::new(rate, job.load.arrivals, job.seed)));
        let mut crew = Crew {
            tallies: Vec::new(),
            stop: OnRequest::default(),
            gate: Arc::default(),
            schedule,
            unregistered: Arc::default(),
            not_ready: 0,
            not_left: 0,
        };
        let content = Content::new(job.workload.data().compressible);
        let streams = streams(&job.workload, &job.load);
        let mut memory = buffers_of(job.workload.io(), &streams)?;
        for stream in streams {
            let slots = slots_of_workers(engine, stream.outstanding, machine::cores_usable());
            let drawn = Arc::<Drawn>::default();
            crew.tallies.push(Vec::new());
            let mut lane = 0;
            for slots in slots {
                let mut rng = generator(job.seed, crew.not_left as u64);
                let requests =
                    Requests::new(stream.pattern.clone(), Arc::clone(&drawn), rng.clone());
                // The buffers' content must not repeat the sequence that chose the offsets.
                rng.long_jump();
                let size = stream.pattern.layout.block_size_bytes as usize;
                let files = Arc::clone(&shared.files);
                let verifier = shared.verification.clone().map(|verification| {
                    Box::new(Verifier::new(verification, &stream.pattern, lane, slots))
                });
                lane += slots;
                match engine {
                    Engine::Null => {
                        crew.start(sender, move || Ok(FileIo::new(Null, requests, files, None)))?
                    }
                    Engine::Sync => {
                        let buffer = content.buffer(memory.take(size), &mut rng);
                        crew.start(sender, move || {
                            let io = Sync::new(Arc::clone(&files), buffer);
                            Ok(FileIo::new(io, requests, files, verifier))
                        })?;
                    }
                    Engine::IoUring => {
                        let buffers = (0..slots)
                            .map(|_| content.buffer(memory.take(size), &mut rng))
                            .collect();
                        let unregistered = Arc::clone(&crew.unregistered);
                        crew.start(sender, move || {
                            let io = Uring::new(Arc::clone(&files), buffers)?;
                            if !io.has_registered_buffers() {
                                unregistered.store(true, Ordering::Relaxed);
                            }
                            Ok(FileIo::new(io, requests, files, verifier))
                        })?;
                    }
                }
            }
        }
        Ok(crew)
    }

    /// Starts one worker of the last stream; `make` runs on its thread, since a ring belongs to the
    /// thread that made it.
    fn start<W: Workload>(
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
        let work = move || {
            // The receiver lives until the process ends.
            let tell = |message| drop(sender.send(message));
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let workload = make()?;
                tell(Message::Ready);
                gate.wait();
                match schedule {
                    None => Worker::new(Closed, stop, workload, tally).work(),
                    Some(schedule) => {
                        machine::sleep_precisely();
                        Worker::new(Open::new(schedule), stop, workload, tally).work()
                    }
                }
            }));
            match outcome {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tell(Message::Failed(error)),
                Err(_) => tell(Message::Failed(EngineError::new(
                    Class::Internal,
                    "a worker has panicked; the words are on stderr",
                    "this is a defect of the engine: report it with the job",
                ))),
            }
            tell(Message::Left);
        };
        thread::Builder::new()
            .name("worker".into())
            .stack_size(STACK_BYTES)
            .spawn(work)
            .map_err(|cause| no_thread(&cause))?;
        self.not_ready += 1;
        self.not_left += 1;
        Ok(())
    }

    /// Waits for every worker. `None` when stdin ends meanwhile; commands that come early are
    /// added to `early`.
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
                Ok(Message::Left | Message::Opened(_)) => {}
            }
        }
        Ok(Some(early))
    }

    /// Lets all workers begin, at the time `start`; gives what an open loop's schedule is to be
    /// watched by.
    pub fn go(&self, start: Nanos) -> Option<Backlog> {
        let backlog = self.schedule.as_ref().map(|schedule| schedule.begin(start));
        self.gate.open();
        backlog
    }

    pub fn stop(&self) {
        self.stop.ask();
    }

    /// Whether all workers have left within `patience`; an end of input shortens it no further,
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

    /// To be asked when the workers are ready.
    pub fn has_registered_buffers(&self) -> bool {
        !self.unregistered.load(Ordering::Relaxed)
    }

    /// By streams of the load.
    pub fn tallies(&self) -> Vec<Vec<SharedTally>> {
        self.tallies.clone()
    }

    pub fn workers(&self) -> usize {
        self.tallies.iter().map(Vec::len).sum()
    }
}

/// Memory for a buffer of every operation that may be outstanding.
fn buffers_of(method: &Method, streams: &[Stream]) -> Result<Memory> {
    let sizes = streams.iter().flat_map(|stream| {
        let size = stream.pattern.layout.block_size_bytes as usize;
        std::iter::repeat_n(size, stream.outstanding)
    });
    let sizes = sizes.filter(|_| method.engine != Engine::Null);
    Memory::of(sizes, method.huge_pages)
}

/// How many slots each worker gets; the length is the number of workers.
fn slots_of_workers(engine: Engine, outstanding: usize, cores: usize) -> Vec<usize> {
    match engine {
        Engine::Sync => vec![1; outstanding],
        // Nothing is ever outstanding, so more threads than cores would only wait for each other.
        Engine::Null => vec![1; outstanding.min(cores)],
        Engine::IoUring => {
            let workers = outstanding.div_ceil(SLOTS_PER_RING).min(cores).max(1);
            (0..workers)
                .map(|number| outstanding / workers + usize::from(number < outstanding % workers))
                .collect()
        }
    }
}

pub fn no_thread(cause: &io::Error) -> EngineError {
    EngineError::new(
        Class::TooManyThreads,
        format!("a thread could not be started: {cause}"),
        "raise the limit of processes (ulimit -u), or use fewer outstanding operations or engine = \"io_uring\"",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outstanding_operations_are_spread_over_workers_without_loss() {
        assert_eq!(slots_of_workers(Engine::Sync, 3, 2), [1, 1, 1]);
        assert_eq!(slots_of_workers(Engine::IoUring, 128, 8), [128]);
        assert_eq!(slots_of_workers(Engine::IoUring, 257, 8), [86, 86, 85]);
        assert_eq!(slots_of_workers(Engine::IoUring, 513, 2), [257, 256]);
        assert_eq!(slots_of_workers(Engine::Null, 16, 2), [1, 1]);
    }
}
