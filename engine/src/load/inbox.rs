//! The inbox of a load's conductor: stdin and worker messages on one channel.
//!
//! In: messages from the stdin thread and from workers. Out: the same messages in order of arrival.
//! Called by `run`, `load::workers` and `run::windows`.

use serde::Deserialize;

use crate::error::{EngineError, Result};
use crate::input::Input;
use crate::job::check::MAX_SECONDS;

pub enum Message {
    Input(Input),
    /// The thread that opens the files has ended.
    Opened,
    /// A worker is ready to start.
    Ready,
    /// A worker cannot continue.
    Failed(EngineError),
    /// A worker has ended, for any reason.
    Left,
}

/// A line on stdin after the job.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Opens a window after the settle time, and closes it after the measuring time.
    Measure(Timed),
    /// Opens a window with this id.
    Open(String),
    /// Closes the window with this id.
    Close(String),
    /// Reads the clock, and answers with this label.
    Clock(String),
}

/// A timed window to be opened later: after `settle_s`, or at the monotonic time `at_s`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    pub window: String,
    pub settle_s: f64,
    pub measure_s: f64,
    #[serde(default)]
    pub at_s: Option<f64>,
}

impl Timed {
    pub fn check(&self) -> Result<()> {
        let fits = |value: f64, least: f64| (least..=MAX_SECONDS).contains(&value);
        let at_s = self.at_s.unwrap_or(0.0);
        if fits(self.settle_s, 0.0) && fits(self.measure_s, 0.001) && at_s >= 0.0 {
            return Ok(());
        }
        Err(EngineError::bad_command(format!(
            "window `{}` cannot settle for {} s and be measured for {} s",
            self.window, self.settle_s, self.measure_s
        )))
    }
}

impl Command {
    pub fn parse(line: &str) -> Result<Command> {
        serde_json::from_str(line).map_err(|cause| {
            EngineError::bad_command(format!("`{line}` is not a command of a run: {cause}"))
        })
    }
}
