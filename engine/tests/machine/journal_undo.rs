//! `undo` after a keeper was killed, with ordinary files for settings.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use crate::harness::place::{Place, resealed, restored};
use crate::harness::{named, only_error};
use serde_json::json;

#[test]
fn a_killed_keeper_leaves_an_orphan_that_undo_restores_once() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    let error = only_error(place.keeper("e2", &["c"], false).wait(), 1);
    assert_eq!(error["class"], "open-journal");
    assert!(error["message"].as_str().unwrap().contains("paribus undo"));

    let (code, events) = place.undo(&["--dry-run"]);
    let listed = named(&events, "open-journal")[0].clone();
    assert_eq!((code, &listed["owned"]), (0, &json!(false)));
    assert_eq!(listed["changes"].as_array().unwrap().len(), 2);
    assert_eq!(place.value("a"), "new", "a dry run changes nothing");

    let (code, events) = place.undo(&["--experiment", "other"]);
    assert_eq!((code, events.len()), (0, 0));
    let (code, events) = place.undo(&[]);
    assert_eq!(
        (code, restored(&events)),
        (0, vec!["test.b".into(), "test.a".into()])
    );
    assert_eq!(place.value("a"), "old-a");
    fs::write(place.setting("a"), "later").unwrap();
    let (code, events) = place.undo(&[]);
    assert_eq!(
        (code, events.len(), place.value("a")),
        (0, 0, "later".into())
    );
    place.opened("e1", &["a"]);
}

#[test]
fn what_cannot_be_put_back_is_stuck_and_stays_open() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    fs::remove_file(place.setting("a")).unwrap();
    let (code, events) = place.undo(&[]);
    let stuck = named(&events, "stuck")[0];
    assert_eq!(
        (code, &stuck["wanted"], &stuck["found"]),
        (4, &json!("old-a"), &json!(null))
    );
    assert!(stuck["reason"].as_str().unwrap().contains("No such file"));
    assert_eq!(
        (restored(&events), place.value("b")),
        (vec!["test.b".into()], "old-b".into())
    );

    fs::write(place.setting("a"), "back").unwrap();
    fs::write(place.setting("b"), "mine now").unwrap();
    let (code, events) = place.undo(&[]);
    assert_eq!((code, restored(&events)), (0, vec!["test.a".into()]));
    assert_eq!(place.value("b"), "mine now", "a change is taken back once");
}

#[test]
fn what_a_stuck_setting_may_move_is_restored_again_after_it() {
    let place = Place::new();
    place.orphan("e1", &["a", "b"]);
    fs::remove_file(place.setting("b")).unwrap();
    let (code, _) = place.undo(&[]);
    assert_eq!((code, place.value("a")), (4, "old-a".into()));

    fs::write(place.setting("b"), "back").unwrap();
    fs::write(place.setting("a"), "moved").unwrap(); // as a scheduler moves the depth of its queue
    let (code, events) = place.undo(&[]);
    assert_eq!(
        (code, restored(&events)),
        (0, vec!["test.b".into(), "test.a".into()])
    );
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn volatile_changes_of_another_boot_are_not_replayed() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a", "b"]);
    place.change(&mut keeper, "a", "new");
    keeper.send(&place.change_line("b", "old-b", "new", true));
    keeper.wait_for("journalled");
    fs::write(place.setting("b"), "new").unwrap();
    keeper.signal(libc::SIGKILL);
    keeper.wait();
    reseal_with_another_boot(&place.journals().join("e1.jsonl"));
    let (code, events) = place.undo(&[]);
    assert_eq!(code, 0, "{events:#?}");
    assert_eq!(named(&events, "expired")[0]["knob"], "test.a");
    assert_eq!(
        (place.value("a"), place.value("b")),
        ("new".into(), "old-b".into())
    );
}

fn reseal_with_another_boot(path: &Path) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, resealed(&text.replace(boot.trim(), "another"))).unwrap();
}
