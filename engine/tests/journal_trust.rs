//! Whom the keeper and `undo` believe: a controller that is silent, a journal that others may write,
//! and the ways back that are more than a write.

#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use harness::place::{Place, restored};
use harness::{Engine, named};
use serde_json::{Value, json};

#[test]
fn a_controller_that_says_nothing_is_gone_and_one_that_sends_blank_lines_is_not() {
    let place = Place::new();
    let journals = place.journals();
    let directory = journals.to_str().unwrap();
    let mut keeper = Engine::start(&["--heartbeat", "2", "journal", "--directory", directory]);
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

/// A change that is journalled with another way back than a write.
fn changed(place: &Place, undo: &Value) -> Engine {
    let mut keeper = place.opened("e1", &["a"]);
    let mut line = place.change_line("a", "old-a", "new", true);
    line["change"]["undo"] = json!([undo]);
    keeper.send(&line);
    keeper.wait_for("journalled");
    keeper
}

#[test]
fn a_program_puts_back_what_no_write_can_and_another_one_has_to_say_so() {
    let place = Place::new();
    let (file, aside) = (place.setting("a"), place.setting("aside"));
    let run =
        json!({"run": {"argv": ["mv", aside, file], "check": ["cat", file], "said": "old-a\n"}});
    let mut keeper = changed(&place, &run);
    fs::rename(&file, &aside).unwrap();
    keeper.send(&json!({"restore": {}}));
    let (code, events) = keeper.wait();
    assert_eq!((code, restored(&events)), (0, vec!["test.a".into()]));
    assert_eq!(place.value("a"), "old-a");

    let keeper = changed(&place, &run);
    fs::remove_file(&file).unwrap();
    let (code, events) = keeper.finish();
    let stuck = named(&events, "stuck")[0];
    assert_eq!(code, 4);
    assert!(stuck["reason"].as_str().unwrap().contains("mv"), "{stuck}");
}

#[test]
fn a_file_of_options_is_gone_or_whole_again_whatever_happened_to_it() {
    let place = Place::new();
    let options = place.setting("options.conf");
    let put = json!({"put_back": {"path": options, "before": null}});
    let keeper = changed(&place, &put);
    fs::write(&options, "options x y=1\n").unwrap();
    assert_eq!(keeper.finish().0, 0);
    assert!(!options.exists());
    let relative = json!({"put_back": {"path": "options.conf", "before": null}});
    let mut keeper = place.opened("e2", &["b"]);
    let mut line = place.change_line("b", "old-b", "new", true);
    line["change"]["undo"] = json!([relative]);
    keeper.send(&line);
    assert_eq!(keeper.wait_for("error")["class"], "bad-command");
    assert_eq!(keeper.finish().0, 0);
}
