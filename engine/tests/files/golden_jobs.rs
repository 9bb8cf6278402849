//! Every kind of job from the controller, as stored in `golden/jobs`: the engine understands each
//! field.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use paribus_engine::job::Job;
use serde_json::Value;

/// Numbers as one type, without null fields: the engine treats these as absent.
fn normalised(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), normalised(value)))
            .collect(),
        Value::Array(items) => items.iter().map(normalised).collect(),
        Value::Number(number) => number.as_f64().unwrap().into(),
        other => other.clone(),
    }
}

#[test]
fn a_job_of_the_controller_is_understood_as_it_was_meant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/jobs");
    let mut understood = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let sent: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let job = Job::parse(&sent.to_string()).unwrap();
        assert_eq!(
            normalised(&job.effective()),
            normalised(&sent),
            "{}",
            path.display()
        );
        understood += 1;
    }
    assert!(understood > 0);
}
