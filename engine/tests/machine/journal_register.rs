//! The register of open journals: journals that were deleted, and those of other state folders.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::harness::place::{Place, restored};
use crate::harness::{Engine, named, only_error};
use serde_json::json;

/// A keeper with another state folder that wants to change these settings.
fn keeper_elsewhere(place: &Place, names: &[&str], global: bool) -> Engine {
    let mut keeper = place.start(&["journal"], &place.journals().with_file_name("elsewhere"));
    let addresses: Vec<PathBuf> = names.iter().map(|name| place.setting(name)).collect();
    keeper.send(&json!({"open": {"experiment": "e2", "addresses": addresses, "global": global}}));
    keeper
}

fn remove_everything(place: &Place) {
    fs::remove_dir_all(place.journals()).unwrap();
    fs::remove_dir_all(place.copies()).ok();
}

#[test]
fn settings_whose_journal_and_copy_were_deleted_are_not_called_restored() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    remove_everything(&place);
    for options in [&["--dry-run"][..], &[]] {
        let (code, events) = place.undo(options);
        let error = &named(&events, "error")[0];
        let message = error["message"].as_str().unwrap();
        assert_eq!((code, events.len()), (4, 1), "{events:#?}");
        assert!(message.contains("were deleted, and experiment e1 may have left changed"));
        assert!(
            message.contains(place.setting("a").to_str().unwrap()),
            "{message}"
        );
    }
    let error = only_error(place.keeper("e3", &["b"], false).wait(), 1);
    assert_eq!(error["class"], "journal-line");
    let hint = error["hint"].as_str().unwrap();
    fs::remove_file(hint.rsplit("remove ").next().unwrap()).unwrap();
    assert_eq!(place.undo(&[]), (0, vec![]), "a person has seen to it");
    place.opened("e3", &["b"]);
}

#[test]
fn a_journal_that_is_deleted_under_a_working_keeper_is_reported_until_it_has_ended() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    remove_everything(&place);
    let (code, events) = place.undo(&["--dry-run"]);
    let message = events[0]["message"].as_str().unwrap();
    assert_eq!(code, 4);
    assert!(message.ends_with("experiment e1 is running"), "{message}");
    keeper.close_stdin();
    keeper.wait();
    assert_eq!(place.value("a"), "old-a");
    assert_eq!(place.undo(&[]), (0, vec![]));
}

#[test]
fn copies_are_found_where_they_were_made_and_not_where_they_would_be_now() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    fs::remove_dir_all(place.journals()).unwrap();
    let mut undo = place.command(&["undo"], &place.journals());
    undo.env("PARIBUS_STATE_COPY", place.setting("other-copies"));
    let (code, events) = Engine::spawn(undo).finish();
    assert_eq!((code, restored(&events)), (0, vec!["test.a".to_string()]));
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn a_register_that_others_may_write_is_named_and_not_believed() {
    let place = Place::new();
    fs::create_dir(place.register()).unwrap();
    fs::set_permissions(place.register(), fs::Permissions::from_mode(0o777)).unwrap();
    for code_and_events in [place.keeper("e1", &["a"], false).wait(), place.undo(&[])] {
        let error = &named(&code_and_events.1, "error")[0];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("the register of open journals cannot be used"));
        assert!(error["hint"].as_str().unwrap().contains("PARIBUS_REGISTER"));
    }
}

#[test]
fn a_closed_journal_may_be_deleted() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    place.change(&mut keeper, "a", "new");
    let entry = || fs::read_dir(place.register()).unwrap().next();
    let path = entry().unwrap().unwrap().path();
    let text = fs::read(&path).unwrap();
    assert_eq!(keeper.finish().0, 0);
    assert!(entry().is_none());
    fs::write(&path, text).unwrap(); // as if it was killed before it removed the entry
    place.opened("e2", &["b"]).finish();
    remove_everything(&place);
    assert_eq!(place.undo(&[]), (0, vec![]));
    assert!(entry().is_none());
}

#[test]
fn a_setting_belongs_to_one_experiment_of_the_machine() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    for (names, global) in [(&["a"], false), (&["b"], true)] {
        let error = only_error(keeper_elsewhere(&place, names, global).wait(), 1);
        assert_eq!(error["class"], "address-busy", "{error}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("experiment `e1`")
        );
    }
    let mut beside = keeper_elsewhere(&place, &["b"], false);
    beside.wait_for("opened");
    assert_eq!(beside.finish().0, 0);

    place.change(&mut keeper, "a", "new");
    keeper.signal(libc::SIGKILL);
    keeper.wait();
    let error = only_error(keeper_elsewhere(&place, &["a"], false).wait(), 1);
    assert_eq!(error["class"], "open-journal");
    assert!(error["hint"].as_str().unwrap().contains("PARIBUS_STATE="));
    let elsewhere = place.journals().with_file_name("elsewhere");
    let (code, events) = place.start(&["undo"], &elsewhere).finish();
    assert_eq!(
        (code, &events[0]["elsewhere"]),
        (0, &json!([place.journals()]))
    );
    assert_eq!(restored(&place.undo(&[]).1), ["test.a"]);
    keeper_elsewhere(&place, &["a"], false).wait_for("opened");
}
