//! A parameter of a kernel module, set when the module is loaded.
//!
//! In: the module, the parameter and its value. Out: the module loaded with it, and with its other
//! parameters unchanged. Called by `journal::action`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Undo;
use super::normalised;
use super::program::output;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadModule {
    /// `/sys/module/NAME/parameters/PARAMETER`.
    pub path: PathBuf,
    pub module: String,
    pub parameter: String,
    pub value: String,
}

impl Undo for LoadModule {
    fn subject(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn expected(&self) -> String {
        normalised(&self.value)
    }

    fn read_back(&self) -> io::Result<String> {
        fs::read_to_string(&self.path).map(|text| normalised(&text))
    }

    fn execute(&self) -> io::Result<()> {
        let before = self.path.parent().map(parameters).unwrap_or_default();
        let assignment = format!("{}=", self.parameter);
        let mut parameters = before.clone();
        parameters.retain(|other| !other.starts_with(&assignment));
        parameters.push(assignment + &self.value);
        if self.path.exists() {
            output(&["modprobe", "-r", &self.module])?;
        }
        let outcome = self.load(&parameters);
        if outcome.is_err() && !before.is_empty() {
            // A missing driver is worse than a refused setting.
            self.load(&before)?;
        }
        outcome
    }
}

impl LoadModule {
    fn load(&self, parameters: &[String]) -> io::Result<()> {
        let mut argv = vec!["modprobe", self.module.as_str()];
        argv.extend(parameters.iter().map(String::as_str));
        output(&argv).map(drop)
    }
}

/// `name=value` of all readable parameters; a parameter that was never set has no value.
fn parameters(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut parameters: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let value = fs::read_to_string(&path).ok()?;
            let value = value.trim_end_matches('\n');
            let name = path.file_name()?.to_str()?;
            (!value.is_empty() && value != "(null)").then(|| format!("{name}={value}"))
        })
        .collect();
    parameters.sort();
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_without_those_that_were_never_given() {
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in [
            ("queues", "4\n"),
            ("debug", "Y\n"),
            ("name", "(null)\n"),
            ("list", "\n"),
        ] {
            fs::write(folder.path().join(name), value).unwrap();
        }
        assert_eq!(parameters(folder.path()), ["debug=Y", "queues=4"]);
    }
}
