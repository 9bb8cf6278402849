//! The keeper as a process, with ordinary files for settings.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use crate::harness::place::{Place, restored};
use crate::harness::{Engine, only_error};
use serde_json::json;

#[test]
fn restore_puts_everything_back_in_reverse_order_and_closes() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a", "b"]);
    for (name, value) in [("a", "1"), ("b", "2"), ("a", "3")] {
        place.change(&mut keeper, name, value);
    }
    keeper.send(&json!({"restore": {}}));
    let (code, events) = keeper.wait();
    assert_eq!(code, 0, "{events:#?}");
    assert_eq!(restored(&events), ["test.a", "test.b", "test.a"]);
    assert_eq!(
        (place.value("a"), place.value("b")),
        ("old-a".into(), "old-b".into())
    );
    assert_eq!(events.last().unwrap()["event"], "closed");
    assert!(place.journals().join("closed/e1.jsonl").exists());
    assert!(!place.journals().join("e1.jsonl").exists());
}

#[test]
fn the_end_of_stdin_restores_and_signals_do_not_matter() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        keeper.signal(signal);
    }
    place.change(&mut keeper, "b", "new");
    let (code, _) = keeper.finish();
    assert_eq!(
        (code, place.value("a"), place.value("b")),
        (0, "old-a".into(), "old-b".into())
    );
}

#[test]
fn a_keeper_says_that_it_is_alive_and_journals_nothing_of_it() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    let journal = place.journals().join("e1.jsonl");
    let before = fs::read(&journal).unwrap();
    for _ in 0..2 {
        keeper.send(&json!({"alive": {}}));
        assert_eq!(keeper.wait_for_any(), json!({"event": "alive"}));
    }
    assert_eq!(fs::read(&journal).unwrap(), before);
    place.change(&mut keeper, "a", "new");
    assert_eq!(keeper.finish().0, 0);
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn a_living_owner_makes_undo_say_busy_and_overlaps_are_refused() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    let (code, events) = place.undo(&[]);
    assert_eq!((code, events[0]["event"].as_str()), (0, Some("busy")));
    assert_eq!(place.value("a"), "new");
    let refused = |experiment, names: &[&str], global| {
        only_error(place.keeper(experiment, names, global).wait(), 1)["class"].clone()
    };
    assert_eq!(refused("e2", &["a"], false), "address-busy");
    assert_eq!(refused("e2", &["b"], true), "address-busy");
    assert_eq!(refused("e1", &["b"], false), "address-busy");
    let mut other = place.opened("e2", &["b"]);
    place.change(&mut other, "b", "new");
    assert_eq!(other.finish().0, 0);
    assert_eq!(
        (place.value("a"), place.value("b")),
        ("new".into(), "old-b".into())
    );
    assert_eq!(keeper.finish().0, 0);
}

#[test]
fn of_keepers_racing_for_one_address_exactly_one_wins() {
    for _ in 0..3 {
        let place = Place::new();
        let racers: Vec<Engine> = (0..6)
            .map(|number| place.keeper(&format!("e{number}"), &["a"], false))
            .collect();
        // The winner stays alive until all have tried.
        let mut winners = Vec::new();
        for mut racer in racers {
            let event = racer.wait_for_any();
            if event["event"] == "opened" {
                winners.push(racer);
            } else {
                assert_eq!(event["class"], "address-busy", "{event}");
            }
        }
        assert_eq!(winners.len(), 1);
    }
}

#[test]
fn bad_commands_journal_nothing_and_a_closed_experiment_gets_a_new_generation() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    let mut no_undo = place.change_line("a", "old-a", "new", false);
    no_undo["change"]["undo"] = json!([]);
    let mut unknown = place.change_line("a", "old-a", "new", false);
    unknown["change"]["colour"] = json!("red");
    for line in [
        json!({"sing": 1}),
        json!({"alive": {"colour": "red"}}),
        json!({"restore": {"colour": "red"}}),
        no_undo,
        unknown,
        place.make_line("a", "never announced"),
        json!({"open": {"experiment": "x", "addresses": []}}),
    ] {
        keeper.send(&line);
        assert_eq!(keeper.wait_for("error")["class"], "bad-command", "{line}");
    }
    let (code, events) = keeper.finish();
    assert_eq!((code, restored(&events).len()), (0, 0));
    assert_eq!(place.value("a"), "old-a");
    let opened = place.keeper("e1", &["a"], false).wait_for("opened");
    assert!(opened["path"].as_str().unwrap().ends_with("e1.2.jsonl"));
}

#[test]
fn a_change_that_the_machine_refuses_is_told_with_its_number() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    keeper.send(&place.change_line("a", "old-a", "new", false));
    keeper.wait_for("journalled");
    fs::remove_file(place.setting("a")).unwrap();
    keeper.send(&place.make_line("a", "new"));
    assert_eq!(keeper.wait_for("refused")["errno"], libc::ENOENT);
    assert!(!place.setting("a").exists());
    fs::write(place.setting("a"), "new").unwrap();
    assert_eq!(keeper.finish().0, 0);
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn what_is_on_its_way_when_the_controller_dies_does_not_outlive_it() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "first");
    for number in 0..500 {
        keeper.send(&place.make_line("a", &number.to_string()));
    }
    let (code, events) = keeper.finish();
    assert_eq!((code, restored(&events)), (0, vec!["test.a".to_string()]));
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn memory_is_no_place_for_a_journal() {
    let place = Place::new();
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path();
    let open = json!({"open": {"experiment": "e", "addresses": [], "global": false}});
    let mut keeper = place.start(&["journal"], path);
    keeper.send(&open);
    assert_eq!(only_error(keeper.wait(), 1)["class"], "volatile-directory");
    let mut keeper = place.start(&["journal", "--allow-volatile"], path);
    keeper.send(&open);
    keeper.wait_for("opened");
    assert_eq!(keeper.finish().0, 0);
}

#[test]
fn a_change_that_cannot_be_written_is_not_journalled() {
    let place = Place::new();
    let mut command = std::process::Command::new("sh");
    let journals = place.journals();
    command
        .args(["-c", "ulimit -f 1; exec \"$0\" journal --directory \"$1\""])
        .args([crate::harness::binary(), journals.to_str().unwrap()])
        .env("PARIBUS_REGISTER", place.register());
    let mut keeper = Engine::spawn(command);
    keeper.send(&json!({"open": {"experiment": "e", "addresses": [], "global": false}}));
    keeper.wait_for("opened");
    let long = "x".repeat(4000);
    keeper.send(&place.change_line("a", &long, "new", false));
    assert_eq!(keeper.wait_for("error")["class"], "journal-write");
    let text = fs::read_to_string(journals.join("e.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 2, "the half-written line is gone");
    assert!(text.starts_with("{\"acknowledged\":1 "), "{text}");
    let (code, events) = keeper.finish();
    assert_eq!(
        (code, restored(&events).len(), place.value("a")),
        (0, 0, "old-a".into())
    );
}
