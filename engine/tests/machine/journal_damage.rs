//! Damaged journals: repaired from the copy, or reported; never treated as closed.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::place::{Place, restored};
use crate::harness::{named, only_error};
use serde_json::{Value, json};

/// Damages the file of a journal.
type Harm = fn(&Path);

const HARMS: [(&str, Harm); 11] = [
    ("empty", |path| fs::write(path, "").unwrap()),
    ("zeroes", |path| {
        let length = fs::metadata(path).unwrap().len() as usize;
        fs::write(path, vec![0; length]).unwrap();
    }),
    ("half of it", |path| {
        let text = fs::read(path).unwrap();
        fs::write(path, &text[..text.len() / 2]).unwrap();
    }),
    ("the header alone", |path| keep_lines(path, 2)),
    ("the last line cut off", |path| keep_lines(path, 3)),
    ("the number of lines changed", |path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(
            path,
            text.replacen("acknowledged\":", "acknowledged\":9", 1),
        )
        .unwrap();
    }),
    ("no newline at its end", |path| {
        let text = fs::read(path).unwrap();
        fs::write(path, &text[..text.len() - 1]).unwrap();
    }),
    ("a line changed", |path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replacen("test.a", "test.x", 1)).unwrap();
    }),
    ("a dangling link", |path| {
        fs::remove_file(path).unwrap();
        symlink("/nowhere/at/all", path).unwrap();
    }),
    ("a FIFO", |path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a directory", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
];

/// Keeps the first lines; the first of all is the count.
fn keep_lines(path: &Path, count: usize) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(
        path,
        text.split_inclusive('\n').take(count).collect::<String>(),
    )
    .unwrap();
}

fn journal(place: &Place) -> PathBuf {
    place.journals().join("e1.jsonl")
}

fn copy(place: &Place) -> PathBuf {
    place.copies().join("e1.jsonl")
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(bytes)
        .unwrap();
}

#[test]
fn a_damaged_journal_is_repaired_from_its_copy() {
    for (name, harm) in HARMS {
        let place = Place::new();
        place.orphan("e1", &["a", "b"]);
        harm(&journal(&place));
        let (code, events) = place.undo(&[]);
        let values = (place.value("a"), place.value("b"));
        assert_eq!(
            values,
            ("old-a".into(), "old-b".into()),
            "{name}: {events:#?}"
        );
        assert_eq!(
            (code, restored(&events).len()),
            (0, 2),
            "{name}: {events:#?}"
        );
        assert_eq!(place.undo(&[]), (0, vec![]), "{name}");
        assert!(!copy(&place).exists(), "{name}");
    }
}

#[test]
fn a_deleted_journal_is_restored_from_its_copy_and_a_damaged_copy_is_not_needed() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    fs::remove_file(journal(&place)).unwrap();
    assert_eq!(
        named(&place.undo(&["--dry-run"]).1, "open-journal").len(),
        1
    );
    assert_eq!(restored(&place.undo(&[]).1).len(), 2);

    for (name, harm) in HARMS {
        let place = Place::new();
        place.orphan("e1", &["a", "b"]);
        harm(&copy(&place));
        let (code, events) = place.undo(&[]);
        assert_eq!(
            (code, restored(&events).len()),
            (0, 2),
            "{name}: {events:#?}"
        );
    }
}

#[test]
fn where_the_folder_of_journals_is_gone_the_copies_are_used() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    fs::remove_dir_all(place.journals()).unwrap();
    let listed = place.undo(&["--dry-run"]).1;
    assert_eq!(listed[0]["changes"].as_array().unwrap().len(), 1);
    assert!(!place.journals().exists(), "a dry run changes nothing");
    let (code, events) = place.undo(&[]);
    assert_eq!((code, restored(&events)), (0, vec!["test.a".into()]));
    assert_eq!(place.value("a"), "old-a");
    assert_eq!(place.undo(&[]), (0, vec![]));
    place.opened("e2", &["a"]);
}

#[test]
fn a_closed_journal_leaves_no_copy_whatever_that_has_become() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    let copy = place.copies().join("e1.jsonl");
    fs::remove_file(&copy).unwrap();
    fs::create_dir(&copy).unwrap();
    assert_eq!(restored(&place.undo(&[]).1), ["test.a"]);
    assert!(!copy.exists());
    fs::remove_dir_all(place.journals()).unwrap();
    assert_eq!(place.undo(&[]), (0, vec![]));
}

#[test]
fn damage_without_a_copy_is_reported_and_nothing_new_may_begin() {
    for (name, harm) in HARMS {
        let place = Place::new();
        place.orphan("e1", &["a", "b"]);
        fs::remove_dir_all(place.copies()).unwrap();
        harm(&journal(&place));
        if name == "no newline at its end" {
            assert_eq!(restored(&place.undo(&[]).1).len(), 2, "nothing is lost");
            continue;
        }
        let error = only_error(place.keeper("e2", &["c"], false).wait(), 1);
        let class = error["class"].as_str().unwrap();
        assert!(
            ["open-journal", "journal-line"].contains(&class),
            "{name}: {error}"
        );
        for arguments in [&["--dry-run"][..], &[], &[]] {
            let (code, events) = place.undo(arguments);
            let errors = named(&events, "error");
            assert_eq!((code, errors.is_empty()), (4, false), "{name}: {events:#?}");
            let error = errors[0].clone();
            assert_eq!(error["class"], "journal-line", "{name}");
            assert!(
                error["message"].as_str().unwrap().contains("e1.jsonl"),
                "{error}"
            );
        }
        assert!(fs::symlink_metadata(journal(&place)).is_ok(), "{name}");
    }
}

#[test]
fn a_journal_and_a_copy_that_both_lack_the_last_line_are_damaged() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    keep_lines(&journal(&place), 3);
    keep_lines(&copy(&place), 2);
    for (restored_now, attempt) in [(vec!["test.a".to_string()], 1), (vec![], 2)] {
        let (code, events) = place.undo(&[]);
        assert_eq!((code, restored(&events)), (4, restored_now), "{attempt}");
        let error = named(&events, "error")[0].clone();
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("line 3: it is missing"),
            "{error}"
        );
    }
    assert_eq!(place.value("b"), "new", "nothing says what it was");
}

#[test]
fn every_line_that_is_left_is_used() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    fs::remove_dir_all(place.copies()).unwrap();
    let text = fs::read_to_string(journal(&place)).unwrap();
    fs::write(journal(&place), text.replacen("test.a", "test.x", 1)).unwrap();
    let (code, events) = place.undo(&[]);
    assert_eq!((code, restored(&events)), (4, vec!["test.b".into()]));
    assert!(
        journal(&place).exists(),
        "it may be one that was not restored"
    );
}

#[test]
fn a_line_that_was_never_acknowledged_is_no_damage() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    append(
        &journal(&place),
        br#"{"version":1,"experiment":"e1","record":"cha"#,
    );
    fs::remove_dir_all(place.copies()).unwrap();
    let (code, events) = place.undo(&[]);
    assert_eq!((code, restored(&events).len()), (0, 2), "{events:#?}");
    let closed = fs::read_to_string(place.journals().join("closed/e1.jsonl")).unwrap();
    let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok();
    assert!(closed.lines().all(is_json));
}

#[test]
fn a_journal_that_is_deleted_under_its_keeper_is_filed_from_the_copy() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    fs::remove_file(journal(&place)).unwrap();
    let (_, events) = place.undo(&["--patience", "0"]);
    assert_eq!(events[0]["event"], "busy", "its keeper holds the copy too");
    keeper.send(&json!({"restore": {}}));
    let (code, events) = keeper.wait();
    assert_eq!((code, place.value("a")), (0, "old-a".into()));
    assert_eq!(events.last().unwrap()["event"], "closed");
    let closed = fs::read_to_string(place.journals().join("closed/e1.jsonl")).unwrap();
    assert!(closed.lines().last().unwrap().contains("closed"));
    assert_eq!(place.undo(&[]), (0, vec![]));
}

#[test]
fn a_file_that_was_cut_off_while_it_was_created_is_removed() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    let unfinished =
        [&place.journals(), &place.copies()].map(|directory| directory.join(".e2.jsonl"));
    for path in &unfinished {
        fs::write(path, "{\"acknowledged\":1").unwrap();
    }
    place.undo(&["--dry-run"]);
    assert!(unfinished.iter().all(|path| path.exists()));
    assert_eq!(place.undo(&[]).0, 0);
    assert!(!unfinished.iter().any(|path| path.exists()));
}
