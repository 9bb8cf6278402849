//! Journals that another process has locked, that others could read, and clocks that are set back.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{thread, time::Duration};

use crate::harness::place::{Place, resealed, restored};
use crate::harness::{named, only_error};
use paribus_engine::journal::lock::try_lock;
use serde_json::Value;

/// Another program that holds a lock until it is killed.
struct Locker(Child);

impl Locker {
    fn of(path: &Path) -> Locker {
        let child = Command::new("flock")
            .args([
                "--no-fork".as_ref(),
                path.as_os_str(),
                "sleep".as_ref(),
                "1000".as_ref(),
            ])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // A new descriptor each time: the lock ends with it.
        while try_lock(&File::open(path).unwrap()).unwrap() {
            thread::sleep(Duration::from_millis(5));
        }
        Locker(child)
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn journals_are_private_also_where_they_were_not() {
    let place = Place::new();
    fs::create_dir(place.journals()).unwrap();
    fs::set_permissions(place.journals(), Permissions::from_mode(0o755)).unwrap();
    place.orphan("e1", &["a"]);
    for directory in [place.journals(), place.copies()] {
        let modes = (mode(&directory), mode(&directory.join("e1.jsonl")));
        assert_eq!(modes, (0o700, 0o600), "{}", directory.display());
    }
    assert_eq!(place.undo(&[]).0, 0);
    assert_eq!(mode(&place.journals().join("closed")), 0o700);
}

#[test]
fn a_folder_that_others_may_write_or_that_is_none_is_not_believed() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    fs::set_permissions(place.journals(), Permissions::from_mode(0o777)).unwrap();
    let error = only_error(place.undo(&[]), 1);
    assert_eq!(
        (error["class"].as_str(), place.value("a")),
        (Some("journal-stranger"), "new".into())
    );
    fs::remove_dir_all(place.journals()).unwrap();
    fs::write(place.journals(), "").unwrap();
    let error = only_error(place.undo(&["--dry-run"]), 1);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("a file, not a directory"),
        "{error}"
    );
}

#[test]
fn a_lock_of_another_program_is_reported_with_its_holder() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    let locker = Locker::of(&place.journals().join("e1.jsonl"));
    let (code, events) = place.undo(&["--patience", "0"]);
    let trouble = events[0]["trouble"].as_str().unwrap();
    assert_eq!((code, events[0]["event"].as_str()), (4, Some("busy")));
    assert!(trouble.contains(&locker.0.id().to_string()), "{trouble}");
    drop(locker);
    assert_eq!(place.undo(&[]).0, 0);
}

#[test]
fn the_lock_of_the_folder_is_not_waited_for_for_ever() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    let locker = Locker::of(&place.journals());
    let error = only_error(place.undo(&[]), 1);
    assert_eq!(error["class"], "address-busy");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains(&locker.0.id().to_string()),
        "{error}"
    );
    drop(locker);
    assert_eq!(place.undo(&[]).0, 0);
}

#[test]
fn a_keeper_that_is_stopped_is_reported_and_one_at_work_is_not() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    let (code, events) = place.undo(&["--patience", "0"]);
    assert_eq!((code, &events[0]["trouble"]), (0, &Value::Null));
    keeper.signal(libc::SIGSTOP);
    let stopped = || {
        let (code, events) = place.undo(&["--patience", "0"]);
        let trouble = events[0]["trouble"].as_str().map(str::to_string);
        trouble.map(|trouble| (code, trouble))
    };
    let (code, trouble) = loop {
        if let Some(reported) = stopped() {
            break reported;
        }
    };
    assert_eq!(code, 4);
    assert!(trouble.contains("is stopped"), "{trouble}");
    let listed = place.undo(&["--dry-run"]).1;
    assert_eq!(listed[0]["trouble"].as_str(), Some(trouble.as_str()));
    keeper.signal(libc::SIGCONT);
    assert_eq!(keeper.finish().0, 0);
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn the_sequence_decides_the_order_of_undoing_and_not_the_clock() {
    let place = Place::new();
    for (experiment, value) in [("e1", "first"), ("e2", "second")] {
        let mut keeper = place.opened(experiment, &["a"]);
        place.change(&mut keeper, "a", value);
        keeper.send(&serde_json::json!({"keep": {}}));
        keeper.wait_for("kept");
        keeper.finish();
    }
    // As if the clock had been set back by a day before the second one.
    set_clock_back(&place.journals().join("e2.jsonl"));
    set_clock_back(&place.copies().join("e2.jsonl"));
    let (code, events) = place.undo(&["--kept"]);
    assert_eq!((code, restored(&events).len()), (0, 2));
    assert_eq!(named(&events, "restored")[0]["experiment"], "e2");
    assert_eq!(place.value("a"), "old-a");
}

fn set_clock_back(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let today = text.split("\"time\":\"").nth(1).unwrap()[..10].to_string();
    fs::write(path, resealed(&text.replace(&today, "2001-01-01"))).unwrap();
}

#[test]
fn a_keeper_at_work_is_found_while_the_locks_of_others_come_and_go() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    let others = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    let troubles: Vec<Value> = thread::scope(|scope| {
        for thread in 0..2 {
            let (others, is_over) = (others.path(), &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let path = |number| others.join(format!("{thread}-{number}"));
                    let files = (0..50).map(|number| File::create(path(number)).unwrap());
                    let locked: Vec<File> = files.filter(|file| try_lock(file).unwrap()).collect();
                    drop(locked);
                }
            });
        }
        let undone = (0..200).map(|_| place.undo(&["--patience", "0"]).1);
        let troubles = undone.map(|events| events[0]["trouble"].clone());
        let troubles = troubles.filter(|trouble| !trouble.is_null()).collect();
        is_over.store(true, Ordering::Relaxed);
        troubles
    });
    assert_eq!(troubles, Vec::<Value>::new());
    keeper.signal(libc::SIGKILL);
    keeper.wait();
    assert_eq!(place.undo(&[]).0, 0);
}
