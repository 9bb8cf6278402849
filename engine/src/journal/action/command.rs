//! A setting behind a program of its own, such as that of a RAID controller.
//!
//! In: the argument lists that set it and read it, and where its value is in what is printed. Out:
//! success, or the value in force. Called by `journal::action`. No shell is involved.

use std::io;
use std::path::Path;

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Undo;
use super::program::output;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetByCommand {
    pub set: Vec<String>,
    pub get: Vec<String>,
    /// A JSON pointer (RFC 6901) to the value in the output of `get`; empty: a pattern.
    #[serde(default)]
    pub json: String,
    /// A regular expression whose first group is the value.
    #[serde(default)]
    pub pattern: String,
    /// The value after `set`, as `get` prints it.
    pub value: String,
    /// Values on the way to it, as of a drive that is rebuilt: `set` is not run again.
    #[serde(default)]
    pub passing: Vec<String>,
}

impl Undo for SetByCommand {
    fn subject(&self) -> String {
        format!("{} {}{}", self.get.join(" "), self.json, self.pattern)
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn expected(&self) -> String {
        self.value.clone()
    }

    fn execute(&self) -> io::Result<()> {
        if !self.passing.is_empty()
            && let Ok(value) = self.read_back()
            && (value == self.value || self.passing.contains(&value))
        {
            return Ok(());
        }
        run(&self.set).map(drop)
    }

    fn read_back(&self) -> io::Result<String> {
        self.extract(&run(&self.get)?)
    }
}

impl SetByCommand {
    /// Refuses a pattern that cannot be read back by.
    pub fn check(&self) -> io::Result<()> {
        self.regex().map(drop)
    }

    fn regex(&self) -> io::Result<Regex> {
        RegexBuilder::new(&self.pattern)
            .multi_line(true)
            .build()
            .map_err(io::Error::other)
    }

    /// The value in an output.
    fn extract(&self, text: &str) -> io::Result<String> {
        let value = if self.json.is_empty() {
            self.by_pattern(text)?
        } else {
            self.by_pointer(text)?
        };
        value.ok_or_else(|| {
            io::Error::other(format!(
                "the output of `{}` has no value at {}{}",
                self.get.join(" "),
                self.json,
                self.pattern
            ))
        })
    }

    fn by_pattern(&self, text: &str) -> io::Result<Option<String>> {
        let captures = self.regex()?.captures(text);
        let group = captures.as_ref().and_then(|captures| captures.get(1));
        Ok(group.map(|group| group.as_str().to_string()))
    }

    fn by_pointer(&self, text: &str) -> io::Result<Option<String>> {
        let document: Value = serde_json::from_str(text)?;
        Ok(document.pointer(&self.json).and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(is_true) => Some(is_true.to_string()),
            _ => None,
        }))
    }
}

fn run(argv: &[String]) -> io::Result<String> {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    output(&words)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn setting(folder: &Path, json: &str, pattern: &str, value: &str) -> SetByCommand {
        let file = folder.join("value").display().to_string();
        let text = format!("{{\"cache\": [{{\"policy\": \"{value}\"}}]}}\nPolicy : {value}\n");
        let source = folder.join("source");
        fs::write(
            &source,
            if json.is_empty() {
                text
            } else {
                text.lines().next().unwrap().into()
            },
        )
        .unwrap();
        SetByCommand {
            set: vec!["cp".into(), source.display().to_string(), file.clone()],
            get: vec!["cat".into(), file],
            json: json.into(),
            pattern: pattern.into(),
            value: value.into(),
            passing: Vec::new(),
        }
    }

    #[test]
    fn a_value_is_set_and_read_back_by_programs() {
        let folder = tempfile::tempdir().unwrap();
        for (json, pattern) in [("/cache/0/policy", ""), ("", r"^Policy\s*: (\w+)$")] {
            let action = setting(folder.path(), json, pattern, "WB");
            action.execute().unwrap();
            assert_eq!(action.read_back().unwrap(), "WB");
        }
    }

    #[test]
    fn a_value_on_its_way_is_not_set_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut action = setting(folder.path(), "", r"^Policy\s*: (\w+)$", "Onln");
        let file = folder.path().join("value");
        action.passing = vec!["Rbld".into()];
        for (before, after) in [("Rbld", "Rbld"), ("Offln", "Onln"), ("Onln", "Onln")] {
            fs::write(&file, format!("Policy : {before}\n")).unwrap();
            action.execute().unwrap();
            assert_eq!(action.read_back().unwrap(), after);
        }
    }

    #[test]
    fn what_is_missing_or_fails_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut action = setting(folder.path(), "/other", "", "WB");
        assert!(
            action
                .read_back()
                .unwrap_err()
                .to_string()
                .contains("No such file")
        );
        action.execute().unwrap();
        assert!(
            action
                .read_back()
                .unwrap_err()
                .to_string()
                .contains("has no value at /other")
        );
        action.pattern = "(?=x)".into();
        assert!(action.check().is_err());
        action.set = vec!["false".into()];
        assert!(action.execute().is_err());
    }
}
