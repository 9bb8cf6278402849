//! Trust of the keeper and of `undo`: a silent controller, a journal that others may write, and
//! undo actions beyond a file write.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use crate::harness::named;
use crate::harness::place::{Place, restored};
use serde_json::json;

#[test]
fn a_controller_that_says_nothing_is_gone_and_one_that_sends_blank_lines_is_not() {
    let place = Place::new();
    let mut keeper = place.start(&["--heartbeat", "2", "journal"], &place.journals());
    keeper.send(
        &json!({"open": {"experiment": "e1", "addresses": [place.setting("a")], "global": false}}),
    );
    keeper.wait_for("opened");
    place.change(&mut keeper, "a", "new");
    for _ in 0..12 {
        thread::sleep(Duration::from_millis(250));
        keeper.send_text("\n");
    }
    assert_eq!(place.value("a"), "new", "it was taken for gone too soon");
    let (code, events) = keeper.wait();
    assert_eq!((code, restored(&events)), (0, vec!["test.a".into()]));
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn a_journal_that_others_may_write_is_not_obeyed() {
    let place = Place::new();
    place.orphan("e1", &["a"]);
    let journal = place.journals().join("e1.jsonl");
    assert_eq!(
        fs::metadata(&journal).unwrap().permissions().mode() & 0o022,
        0
    );
    fs::set_permissions(&journal, Permissions::from_mode(0o666)).unwrap();
    let (code, events) = place.undo(&[]);
    assert_eq!((code, place.value("a")), (4, "new".into()));
    let error = named(&events, "error")[0];
    assert_eq!(error["class"], "journal-stranger");
    fs::set_permissions(&journal, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.undo(&[]).0, 0);
    assert_eq!(place.value("a"), "old-a");
}

#[test]
fn a_keeper_takes_no_program_and_no_relative_path_as_an_undo() {
    let place = Place::new();
    let mut keeper = place.opened("e1", &["a"]);
    let undos = [
        json!({"run": {"argv": ["true"], "check": ["true"], "said": ""}}),
        json!({"write": {"path": "a", "text": "old-a"}}),
    ];
    for undo in undos {
        let mut line = place.change_line("a", "old-a", "new", true);
        line["change"]["undo"] = json!([undo]);
        keeper.send(&line);
        assert_eq!(keeper.wait_for("error")["class"], "bad-command", "{undo}");
    }
    assert_eq!(keeper.finish().0, 0);
}
