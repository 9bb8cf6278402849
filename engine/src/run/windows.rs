//! The windows of a load: when each opens and closes, and where its intervals end.
//!
//! In: the job's times or the controller's commands, and the records of the workers. Out: phase,
//! interval and result events. Called by `run::conduct` once the workers run; `run` returns when
//! the load has to stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::clock::{self, Nanos, SECOND, nanos};
use crate::error::{EngineError, Result};
use crate::event::{Events, Phase, PhaseName};
use crate::input::Input;
use crate::job::Job;
use crate::load::inbox::{Command, Message};
use crate::load::schedule::{Backlog, ScheduleState};
use crate::machine;
use crate::record::interval::Collector;
use crate::run::event::Clock;
use crate::run::window::{Window, interval};
use crate::workload::shared::{Shared, kind_names, stream_names};

/// The id of the window that the job's own times define.
const TIMED: &str = "timed";

const DURABLE_EVERY: Nanos = SECOND / 10;

/// The reason for a stop without an error.
#[derive(Debug)]
pub enum Ending {
    /// The timed window has been measured.
    Done,
    /// The controller has closed stdin while no window was open.
    InputEnded,
    /// The controller has closed stdin before the window was measured.
    Interrupted(String),
}

/// A command scheduled for a known time.
struct Due {
    at: Nanos,
    command: Command,
}

/// The parts of a running load that the windows observe.
pub struct Watched<'a> {
    pub shared: &'a Shared,
    pub collector: Collector,
    /// Present in an open loop.
    pub backlog: Option<Backlog>,
    pub workers: usize,
    pub registered_buffers: bool,
}

pub struct Windows<'a> {
    events: &'a Events,
    watched: Watched<'a>,
    /// The names of the streams of the load.
    streams: Vec<&'static str>,
    /// The names of the kinds of transactions that are reported separately.
    kinds: &'static [&'static str],
    /// The state of the schedule at the start of the current interval.
    last_state: Option<ScheduleState>,
    interval: Nanos,
    /// Whether each interval has the histogram of its response times.
    histograms: bool,
    next_interval: Nanos,
    next_check: Nanos,
    /// When to report the durable sequences of verified data again.
    next_durable: Nanos,
    window: Option<Window>,
    /// Whether commands open and close windows; else the job's own times define one.
    commanded: bool,
    /// The length of the timed window.
    measure: Option<Nanos>,
    /// The next step of a timed window.
    due: Option<Due>,
}

impl<'a> Windows<'a> {
    pub fn new(job: &Job, events: &'a Events, watched: Watched<'a>) -> Self {
        let start = clock::now();
        let due = job.measure_s.map(|_| Due {
            at: start + nanos(job.settle_s),
            command: Command::Open(TIMED.into()),
        });
        let interval = nanos(job.interval_s);
        Windows {
            events,
            last_state: watched.backlog.as_ref().map(|_| ScheduleState::default()),
            watched,
            streams: stream_names(job),
            kinds: kind_names(job),
            interval,
            histograms: job.histograms,
            next_interval: start + interval,
            next_check: start + SECOND,
            next_durable: start + DURABLE_EVERY,
            window: None,
            commanded: job.measure_s.is_none(),
            measure: job.measure_s.map(nanos),
            due,
        }
    }

    /// Handles commands and times until the load has to stop. `early` holds the commands that
    /// arrived before the workers ran.
    pub fn run(mut self, inbox: &Receiver<Message>, early: Vec<String>) -> Result<Ending> {
        let ending = early
            .iter()
            .try_for_each(|line| self.obey(line))
            .and_then(|()| self.run_until_end(inbox));
        if ending.is_err() {
            // The last interval explains the failure; it is no result.
            self.close_interval();
        }
        ending
    }

    fn run_until_end(&mut self, inbox: &Receiver<Message>) -> Result<Ending> {
        loop {
            let due = self.due.as_ref().map_or(Nanos::MAX, |due| due.at);
            let mut wake = due.min(self.next_interval).min(self.next_check);
            if self.watched.shared.verification().is_some() {
                wake = wake.min(self.next_durable);
            }
            let patience = Duration::from_nanos(wake.saturating_sub(clock::now()));
            match inbox.recv_timeout(patience) {
                Ok(Message::Input(Input::Line(line))) => self.obey(&line)?,
                Ok(Message::Input(Input::End)) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(self.input_ended());
                }
                Ok(Message::Failed(error)) => return Err(error),
                Ok(Message::Ready | Message::Left | Message::Opened)
                | Err(RecvTimeoutError::Timeout) => {}
            }
            if self.events.reader_is_gone() {
                return Ok(self.input_ended());
            }
            let now = clock::now();
            if now >= due && self.next_due()? {
                return Ok(Ending::Done);
            }
            if now >= self.next_interval {
                self.close_interval();
                // A missed tick is not repeated; the intervals carry their durations.
                let behind = (now - self.next_interval) / self.interval;
                self.next_interval += (behind + 1) * self.interval;
            }
            if let Some(verification) = self.watched.shared.verification()
                && now >= self.next_durable
            {
                verification.report_durable(self.events);
                self.next_durable = now + DURABLE_EVERY;
            }
            if now >= self.next_check {
                self.watched.shared.check()?;
                self.next_check = now + SECOND;
            }
        }
    }

    fn obey(&mut self, line: &str) -> Result<()> {
        let command = Command::parse(line)?;
        if !self.commanded {
            return Err(EngineError::bad_command(format!(
                "`{line}` is not accepted: the job has measure_s, so its window is timed"
            )));
        }
        self.carry_out(command)
    }

    /// Executes the due command; true when the load ends with it.
    fn next_due(&mut self) -> Result<bool> {
        if let Some(due) = self.due.take() {
            self.carry_out(due.command)?;
        }
        // Counted from the actual opening of the window, which may be a little late.
        if let (Some(window), Some(measure)) = (&self.window, self.measure) {
            self.due = Some(Due {
                at: window.start + measure,
                command: Command::Close(window.id.clone()),
            });
        }
        Ok(!self.commanded && self.due.is_none())
    }

    fn carry_out(&mut self, command: Command) -> Result<()> {
        match (command, &self.window) {
            (Command::Measure(timed), None) if self.due.is_none() => {
                timed.check()?;
                self.measure = Some(nanos(timed.measure_s));
                let settled = || clock::now() + nanos(timed.settle_s);
                self.due = Some(Due {
                    at: timed.at_s.map_or_else(settled, nanos),
                    command: Command::Open(timed.window),
                });
            }
            (Command::Clock(label), _) => self.events.emit(&Clock {
                label,
                monotonic_s: clock::seconds(clock::now()),
            }),
            (Command::Measure(timed), _) => {
                return Err(EngineError::bad_command(format!(
                    "window `{}` cannot be timed while another is open or scheduled",
                    timed.window
                )));
            }
            (Command::Open(id), None) => self.open(id),
            (Command::Close(id), Some(window)) if window.id == id => self.close(),
            (Command::Open(id), Some(window)) => {
                return Err(EngineError::bad_command(format!(
                    "window `{id}` cannot be opened while `{}` is open",
                    window.id
                )));
            }
            (Command::Close(id), _) => {
                return Err(EngineError::bad_command(format!(
                    "window `{id}` cannot be closed: it is not open"
                )));
            }
        }
        Ok(())
    }

    fn open(&mut self, id: String) {
        let start = self.close_interval();
        self.next_interval = start + self.interval;
        self.events
            .emit(&Phase::at(PhaseName::Measuring, Some(&id), start));
        self.window = Some(Window::open(id, start, self.streams.len(), self.last_state));
    }

    fn close(&mut self) {
        let cpu = machine::own_cpu_time();
        let end = self.close_interval();
        self.next_interval = end + self.interval;
        let Some(window) = self.window.take() else {
            return;
        };
        self.measure = None;
        self.events
            .emit(&Phase::at(PhaseName::Closed, Some(&window.id), end));
        let mut result = window.result(end, cpu, self.last_state);
        result.workers = self.watched.workers;
        result.registered_buffers = self.watched.registered_buffers;
        if self.streams.iter().any(|name| !name.is_empty()) {
            result.parts = Some(window.part_results(&self.streams, result.duration_s));
        }
        if !self.kinds.is_empty() {
            result.kinds = Some(window.kind_results(self.kinds, result.duration_s));
        }
        self.events.emit(&result);
    }

    /// Ends the current interval, emits it and adds it to the open window; returns its end time.
    fn close_interval(&mut self) -> Nanos {
        let cut = self.watched.collector.cut();
        // Read immediately after the cut, so that starts and completions refer to the same moment.
        let before = self.last_state;
        self.last_state = self
            .watched
            .backlog
            .as_mut()
            .map(|backlog| backlog.state(clock::now));
        let recorded = self.watched.collector.collect(cut);
        let whole = recorded.whole();
        // Two ends at the same time leave an empty interval, which is not reported.
        if recorded.end - recorded.start >= SECOND / 1000 || !whole.is_empty() {
            let mut interval = interval(&recorded, &whole);
            interval.window = self.window.as_ref().map(|window| window.id.clone());
            interval.histogram = self.histograms.then(|| whole.response.encode());
            if let (Some(before), Some(now)) = (before, self.last_state) {
                interval.offered = Some(now.offered - before.offered);
                interval.backlog = Some(now.waiting);
            }
            self.events.emit(&interval);
        }
        if let Some(window) = &mut self.window {
            window.add(&recorded);
        }
        recorded.end
    }

    fn input_ended(&self) -> Ending {
        match (&self.window, !self.commanded) {
            (Some(window), _) => {
                Ending::Interrupted(format!("window `{}` was measured", window.id))
            }
            (None, true) => Ending::Interrupted(format!("window `{TIMED}` was measured")),
            (None, false) => Ending::InputEnded,
        }
    }
}
