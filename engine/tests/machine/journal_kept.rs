//! Changes kept on purpose: no crash has left them, and only an explicit request undoes them.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use crate::harness::named;
use crate::harness::place::{Place, resealed, restored};
use serde_json::json;

/// Sets values, and keeps them on purpose.
fn keep_values(place: &Place, experiment: &str, names: &[&str], value: &str) {
    let mut keeper = place.opened(experiment, names);
    for name in names {
        place.change(&mut keeper, name, value);
    }
    keeper.send(&json!({"keep": {}}));
    keeper.wait_for("kept");
    let (code, events) = keeper.finish();
    assert_eq!((code, restored(&events).len()), (0, 0));
}

#[test]
fn what_is_kept_stays_and_keeps_nobody_from_running_on_top_of_it() {
    let place = Place::new();
    keep_values(&place, "e1", &["a"], "new");
    let (code, events) = place.undo(&["--dry-run"]);
    let listed = &named(&events, "open-journal")[0];
    assert_eq!(
        (code, &listed["kept"], &listed["owned"]),
        (0, &json!(true), &json!(false))
    );
    assert_eq!(listed["changes"][0]["expired"], false);

    let mut later = place.opened("e1", &["a"]);
    place.change(&mut later, "a", "tried");
    let (code, events) = place.undo(&["--kept", "--patience", "0"]);
    assert_eq!(
        (code, named(&events, "kept")[0]["used_by"].as_str()),
        (0, Some("e1"))
    );
    assert_eq!(
        place.value("a"),
        "tried",
        "nothing is taken from under an experiment"
    );
    later.send(&json!({"restore": {}}));
    later.finish();
    assert_eq!(place.value("a"), "new");
}

#[test]
fn undo_leaves_what_is_kept_until_it_is_asked_for() {
    let place = Place::new();
    keep_values(&place, "e1", &["a"], "new");
    place.orphan("e2", &["b"]);
    let (code, events) = place.undo(&[]);
    assert_eq!((code, restored(&events)), (0, vec!["test.b".into()]));
    assert_eq!(named(&events, "kept").len(), 1);
    assert_eq!(
        (place.value("a"), place.value("b")),
        ("new".into(), "old-b".into())
    );
    let (code, events) = place.undo(&["--kept"]);
    assert_eq!((code, restored(&events)), (0, vec!["test.a".into()]));
    assert_eq!(place.value("a"), "old-a");
    assert_eq!(place.undo(&["--kept"]).1.len(), 0);
}

#[test]
fn the_newest_is_undone_first_whatever_the_experiments_are_called() {
    let place = Place::new();
    for (experiment, value) in [("e1", "first"), ("e3", "second"), ("e2", "third")] {
        keep_values(&place, experiment, &["a"], value);
    }
    let (code, events) = place.undo(&["--kept"]);
    let order: Vec<_> = named(&events, "restored")
        .iter()
        .map(|event| event["experiment"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(
        (code, order),
        (0, vec!["e2".into(), "e3".into(), "e1".into()])
    );
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn a_keeper_that_dies_before_it_was_told_leaves_nothing_kept() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    drop(keeper.finish());
    assert_eq!(place.value("a"), "old-a", "the end of its input restores");
    place.orphan("e2", &["a"]);
    assert_eq!(restored(&place.undo(&[]).1), ["test.a"]);
}

#[test]
fn what_a_boot_has_ended_is_put_away_without_being_asked() {
    let place = Place::new();
    keep_values(&place, "e1", &["a"], "new");
    let path = place.journals().join("e1.jsonl");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let lines = fs::read_to_string(&path).unwrap();
    let earlier = lines.replace(boot.trim(), "00000000-0000-0000-0000-000000000000");
    fs::write(&path, resealed(&earlier)).unwrap();
    let listed = named(&place.undo(&["--dry-run"]).1, "open-journal")[0].clone();
    assert_eq!(listed["changes"][0]["expired"], true);
    let (code, events) = place.undo(&[]);
    assert_eq!((code, named(&events, "expired").len()), (0, 1));
    assert_eq!(place.value("a"), "new", "a boot has set it");
    assert!(!path.exists());
}
