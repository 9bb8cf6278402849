//! A server is kept, stopped, killed and cleaned up, with real processes.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{Engine, PATIENCE, binary, only_error};
use paribus_engine::machine;
use serde_json::{Value, json};

/// A directory that other users can reach too.
fn place() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

fn log_of(place: &Path) -> PathBuf {
    place.join("log")
}

fn job(place: &Path, argv: &[&str], changes: Value) -> Value {
    let mut job = json!({"protocol": 2, "argv": argv, "directory": place, "log": log_of(place),
        "environment": {"PATH": "/usr/bin:/bin", "PLACE": place}});
    change(&mut job, &changes);
    job
}

fn change(job: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().unwrap() {
        job[key] = value.clone();
    }
}

/// As a shell starts a background job: interrupts from the terminal are ignored.
fn supervise(job: &Value) -> Engine {
    let mut command = Command::new(binary());
    command.arg("supervise");
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: SIG_IGN installs no handler code.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, libc::SIG_IGN);
                Ok(())
            })
        };
    }
    let mut engine = Engine::spawn(command);
    engine.send(job);
    engine
}

fn started(job: &Value) -> (Engine, i32) {
    let mut engine = supervise(job);
    let pid = engine.wait_for("started")["pid"].as_i64().unwrap();
    (engine, i32::try_from(pid).unwrap())
}

fn runs(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits for the output of a script, so that its traps and its children exist.
fn written(path: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_string(),
            _ => assert!(Instant::now() < deadline, "{} stays empty", path.display()),
        }
        sleep(Duration::from_millis(5));
    }
}

fn wait_until_gone(pid: i32) {
    let deadline = Instant::now() + PATIENCE;
    while runs(pid) {
        assert!(Instant::now() < deadline, "{pid} still runs");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stop_ends_it_by_its_signal() {
    for (name, number) in [("TERM", 15), ("INT", 2), ("QUIT", 3)] {
        let place = place();
        let changes = json!({"stop_signal": name});
        let (mut engine, pid) = started(&job(place.path(), &["sleep", "600"], changes));
        assert!(runs(pid));
        engine.send(&json!("stop"));
        let ended = engine.wait_for("ended");
        assert!(!runs(pid));
        assert_eq!(ended["signal"], number);
        assert_eq!(ended["exit_code"], Value::Null);
        assert_eq!(engine.wait().0, 0);
    }
}

#[test]
fn the_end_of_the_input_is_a_stop() {
    let place = place();
    let script = "trap 'echo bye; exit 3' TERM; echo up > $PLACE/up; while :; do sleep 0.01; done";
    let (engine, pid) = started(&job(place.path(), &["sh", "-c", script], json!({})));
    written(&place.path().join("up"));
    let (code, events) = engine.finish();
    assert_eq!(code, 0);
    let ended = events.last().unwrap();
    assert_eq!(ended["exit_code"], 3);
    assert_eq!(ended["last_words"], json!(["bye"]));
    assert!(!runs(pid));
}

#[test]
fn who_does_not_heed_the_stop_is_killed_with_all_that_descends_from_it() {
    let place = place();
    let script = "trap '' TERM; setsid sleep 600 & echo $! > $PLACE/child; \
        sleep 600 & wait; while :; do sleep 1; done";
    let changes = json!({"patience_s": 0.2});
    let (mut engine, pid) = started(&job(place.path(), &["sh", "-c", script], changes));
    let child: i32 = written(&place.path().join("child")).parse().unwrap();
    engine.send(&json!("stop"));
    let ended = engine.wait_for("ended");
    assert_eq!(ended["signal"], libc::SIGKILL);
    assert!(!runs(pid) && !runs(child));
}

#[test]
fn a_kill_needs_no_patience_not_even_during_a_stop() {
    for line in [json!("kill"), json!({"kill": null})] {
        let place = place();
        let script = "trap '' TERM; echo up > $PLACE/up; while :; do sleep 0.01; done";
        let (mut engine, _) = started(&job(place.path(), &["sh", "-c", script], json!({})));
        written(&place.path().join("up"));
        engine.send(&json!("stop"));
        engine.send(&line);
        assert_eq!(engine.wait_for("ended")["signal"], libc::SIGKILL);
        assert_eq!(engine.wait().0, 0);
    }
}

#[test]
fn it_dies_with_a_tend_that_is_killed() {
    for user in [Value::Null, json!("nobody")] {
        if !user.is_null() && !machine::is_root() {
            continue;
        }
        let place = place();
        let changes = json!({"user": user});
        let (engine, pid) = started(&job(place.path(), &["sleep", "600"], changes));
        engine.signal(libc::SIGKILL);
        wait_until_gone(pid);
    }
}

#[test]
fn signals_meant_for_a_terminal_do_not_end_it() {
    let place = place();
    let (mut engine, pid) = started(&job(place.path(), &["sleep", "600"], json!({})));
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        engine.signal(signal);
    }
    engine.send(&json!("no such command"));
    assert_eq!(engine.wait_for("error")["class"], "bad-command");
    assert!(runs(pid));
    engine.send(&json!("stop"));
    // The server itself still receives these signals.
    assert_eq!(engine.wait_for("ended")["signal"], libc::SIGTERM);
}

#[test]
fn an_end_of_its_own_is_told_with_its_last_words() {
    let place = place();
    fs::write(log_of(place.path()), "of another start\n").unwrap();
    let few = "echo here; echo there >&2; sleep 600 & exit 7";
    let (code, events) = supervise(&job(place.path(), &["sh", "-c", few], json!({}))).wait();
    assert_eq!(code, 0);
    let ended = events.last().unwrap();
    assert_eq!(ended["exit_code"], 7);
    assert_eq!(ended["last_words"], json!(["here", "there"]));

    let many = "i=0; while [ $i -lt 99 ]; do echo $i; i=$((i+1)); done";
    let (_, events) = supervise(&job(place.path(), &["sh", "-c", many], json!({}))).wait();
    let expected: Vec<String> = (79..99).map(|number| number.to_string()).collect();
    assert_eq!(events.last().unwrap()["last_words"], json!(expected));
}

#[test]
fn its_environment_is_what_the_job_says() {
    let place = place();
    let (_, events) = supervise(&job(
        place.path(),
        &["env"],
        json!({"environment": {"A": "b"}}),
    ))
    .wait();
    assert_eq!(events.last().unwrap()["last_words"], json!(["A=b"]));
}

#[test]
fn what_cannot_be_started_is_an_error_that_names_it() {
    let place = place();
    let nowhere = job(place.path(), &["/no/such/program"], json!({}));
    let error = only_error(supervise(&nowhere).wait(), 1);
    assert_eq!(error["class"], "file-vanished");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("/no/such/program")
    );

    let no_log = job(
        place.path(),
        &["true"],
        json!({"log": "/no/such/folder/log"}),
    );
    assert!(
        only_error(supervise(&no_log).wait(), 1)["message"]
            .as_str()
            .unwrap()
            .contains("/no/such/folder/log")
    );
}

#[test]
fn a_job_that_is_wrong_is_refused() {
    let place = place();
    for changes in [
        json!({"argv": []}),
        json!({"patience_s": -1}),
        json!({"stop_signal": "KILL"}),
        json!({"user": "nobody-of-this-name"}),
        json!({"more": 1}),
    ] {
        let mut wrong = job(place.path(), &["true"], json!({}));
        change(&mut wrong, &changes);
        let code = if changes.get("user").is_some() && !machine::is_root() {
            1
        } else {
            2
        };
        only_error(supervise(&wrong).wait(), code);
    }
}

#[test]
fn a_log_has_one_server() {
    let place = place();
    let (mut first, _) = started(&job(place.path(), &["sleep", "600"], json!({})));
    let second = supervise(&job(place.path(), &["true"], json!({}))).wait();
    assert_eq!(only_error(second, 1)["class"], "address-busy");
    first.send(&json!("stop"));
    first.wait_for("ended");
    assert_eq!(
        supervise(&job(place.path(), &["true"], json!({}))).wait().0,
        0
    );
}

#[test]
fn another_user_is_all_that_user_is_and_no_more() {
    if !machine::is_root() {
        return;
    }
    let place = place();
    let script = "id -un; id -Gn; cat /etc/shadow";
    let changes = json!({"user": "nobody"});
    let (_, events) = supervise(&job(place.path(), &["sh", "-c", script], changes)).wait();
    let words = &events.last().unwrap()["last_words"];
    assert_eq!(words[0], "nobody");
    assert_ne!(words[1], "root");
    assert!(words[2].as_str().unwrap().contains("Permission denied"));
}
