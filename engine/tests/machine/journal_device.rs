//! Settings of a block device whose name belongs to another device meanwhile.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::path::PathBuf;

use crate::harness::Engine;
use crate::harness::device::{Loop, SIZE, may_make_devices};
use crate::harness::named;
use crate::harness::place::{Place, restored};
use serde_json::{Value, json};

const NUMBER: u32 = 3177;

struct Setting(PathBuf);

impl Setting {
    fn of(device: &Loop) -> Setting {
        let name = device.path.file_name().unwrap().to_str().unwrap();
        Setting(format!("/sys/block/{name}/queue/read_ahead_kb").into())
    }

    fn value(&self) -> String {
        fs::read_to_string(&self.0).unwrap().trim().to_string()
    }

    fn write(&self, text: &str) -> Value {
        json!({"write": {"path": self.0, "text": text, "readback": "plain"}})
    }

    /// A keeper that has set it to 512.
    fn changed(&self, place: &Place) -> Engine {
        let mut keeper = place.opened("e1", &["a"]);
        keeper.send(
            &json!({"change": {"knob": "block.read_ahead_kb", "address": self.0,
            "before": self.value(), "wanted": 512, "persistent": false,
            "undo": [self.write(&self.value())]}}),
        );
        keeper.wait_for("journalled");
        keeper.send(&self.make("512"));
        keeper.wait_for("made");
        keeper
    }

    fn make(&self, text: &str) -> Value {
        json!({"make": {"knob": "block.read_ahead_kb", "action": self.write(text)}})
    }
}

#[test]
fn a_device_that_only_has_the_name_is_neither_set_nor_restored() {
    if !may_make_devices() {
        return;
    }
    let (place, device) = (Place::new(), Loop::numbered(NUMBER));
    let setting = Setting::of(&device);
    let original = setting.value();

    let keeper = setting.changed(&place);
    keeper.signal(libc::SIGKILL);
    keeper.wait();
    let (code, events) = place.undo(&[]);
    assert_eq!(
        (code, restored(&events).len()),
        (0, 1),
        "the same device: {events:#?}"
    );
    assert_eq!(setting.value(), original);

    let mut keeper = setting.changed(&place);
    let other = place.setting("other");
    File::create(&other).unwrap().set_len(SIZE).unwrap();
    device.attach_instead(&other);
    fs::write(&setting.0, "64").unwrap();
    keeper.send(&setting.make("1024"));
    let refused = keeper.wait_for("refused");
    assert!(
        refused["reason"]
            .as_str()
            .unwrap()
            .contains("another device"),
        "{refused}"
    );
    let (code, events) = keeper.finish();
    let stuck = named(&events, "stuck")[0].clone();
    assert_eq!((code, setting.value()), (4, "64".into()), "{events:#?}");
    assert!(
        stuck["reason"].as_str().unwrap().contains("diskseq was"),
        "{stuck}"
    );
    assert_eq!(
        place.undo(&[]).0,
        4,
        "it stays open until somebody has looked"
    );
    assert_eq!(setting.value(), "64");
}
