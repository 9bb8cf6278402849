//! Data folders: private to one user, refused where others could replace them, removed with nothing
//! else.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::harness::{Engine, disk_directory, job, named, only_error, prepare};
use paribus_engine::machine;
use rustix::fs::FlockOperation;
use serde_json::{Value, json};

const NOBODY: u32 = 65534;

fn data(arguments: &[&str]) -> (i32, Vec<Value>) {
    let arguments: Vec<&str> = ["data"].iter().chain(arguments).copied().collect();
    Engine::start(&arguments).wait()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn make(place: &Path, experiment: &str) -> PathBuf {
    let about = r#"{"plan":"a plan"}"#;
    let (code, events) = data(&["make", text(place), experiment, "--about", about]);
    assert_eq!(code, 0, "{events:?}");
    PathBuf::from(named(&events, "data-folder")[0]["path"].as_str().unwrap())
}

fn refused(arguments: &[&str]) -> String {
    let error = only_error(data(arguments), 1);
    assert_eq!(error["class"], "untrusted-folder", "{error}");
    error["message"].as_str().unwrap().into()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_is_for_its_user_alone_says_whose_it_is_and_goes_with_all_that_is_in_it() {
    let place = disk_directory();
    let folder = make(place.path(), "one");
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o7777,
        0o700
    );
    assert_eq!(make(place.path(), "one"), folder, "it is found again");
    make(place.path(), "two");
    let victim = place.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("kept"), "kept").unwrap();
    fs::create_dir_all(folder.join("a/b")).unwrap();
    fs::write(folder.join("a/b/c"), vec![0; 100_000]).unwrap();
    symlink(&victim, folder.join("a/link")).unwrap();

    let (_, events) = data(&["list", text(place.path())]);
    let folders = named(&events, "data-folders")[0]["folders"].clone();
    assert_eq!(folders.as_array().unwrap().len(), 2);
    assert_eq!(folders[0]["manifest"]["experiment"], "one");
    assert_eq!(folders[0]["manifest"]["about"]["plan"], "a plan");
    assert!(folders[0]["size_bytes"].as_u64().unwrap() >= 100_000);
    assert_eq!(folders[0]["in_use"], false);

    assert_eq!(data(&["remove", text(place.path()), "one"]).0, 0);
    assert!(!folder.exists());
    assert_eq!(fs::read_to_string(victim.join("kept")).unwrap(), "kept");
    assert_eq!(data(&["remove", text(place.path()), "two"]).0, 0);
    assert!(
        !place.path().join("paribus-data").exists(),
        "the last one takes the common folder along"
    );
}

#[test]
fn a_manifest_that_a_power_cut_left_unfinished_is_written_again() {
    let place = disk_directory();
    let folder = make(place.path(), "one");
    let manifest = folder.join("paribus.experiment.json");
    let unfinished = folder.join("paribus.experiment.json.new");
    fs::remove_file(&manifest).unwrap();
    fs::write(&unfinished, "{\"experiment\":").unwrap();
    assert_eq!(make(place.path(), "one"), folder);
    assert!(manifest.exists() && !unfinished.exists());
}

#[test]
fn what_no_manifest_claims_and_what_a_program_still_uses_stays() {
    let place = disk_directory();
    let strange = place.path().join("paribus-data/one");
    fs::create_dir_all(&strange).unwrap();
    fs::write(strange.join("mine"), "mine").unwrap();
    for verb in ["make", "remove"] {
        let error = only_error(data(&[verb, text(place.path()), "one"]), 1);
        assert_eq!(error["class"], "not-ours");
    }
    assert_eq!(fs::read_to_string(strange.join("mine")).unwrap(), "mine");

    let used = make(place.path(), "two");
    fs::create_dir(used.join("server-1")).unwrap();
    let log = File::create(used.join("server-1/server.log")).unwrap();
    rustix::fs::flock(&log, FlockOperation::LockExclusive).unwrap();
    let error = only_error(data(&["remove", text(place.path()), "two"]), 1);
    assert_eq!(error["class"], "address-busy");
    drop(log);
    assert_eq!(data(&["remove", text(place.path()), "two"]).0, 0);
}

#[test]
fn an_empty_folder_with_the_id_of_an_experiment_is_removed() {
    let place = disk_directory();
    let shared = place.path().join("paribus-data");
    let id = "20261121-091403-7f3a";
    for unfinished in [false, true] {
        fs::create_dir_all(shared.join(id)).unwrap();
        if unfinished {
            fs::write(shared.join(id).join("paribus.experiment.json.new"), "{").unwrap();
        }
        let (_, events) = data(&["list", text(place.path())]);
        let folders = &named(&events, "data-folders")[0]["folders"];
        assert_eq!(folders[0]["empty"], true);
        assert_eq!(folders[0]["manifest"], Value::Null);
        assert_eq!(data(&["remove", text(place.path()), id]).0, 0);
        assert!(!shared.exists());
    }
    for (name, content) in [("20261121-091403-7f3", None), (id, Some("mine"))] {
        fs::create_dir_all(shared.join(name)).unwrap();
        if let Some(content) = content {
            fs::write(shared.join(name).join(content), content).unwrap();
        }
        let error = only_error(data(&["remove", text(place.path()), name]), 1);
        assert_eq!(error["class"], "not-ours");
        assert!(shared.join(name).exists());
    }
}

#[test]
fn a_place_that_is_not_there_is_not_made() {
    let place = disk_directory();
    let mistyped = place.path().join("no/such");
    let error = only_error(data(&["make", text(&mistyped), "one"]), 1);
    assert_eq!(error["class"], "file-vanished");
    assert!(!place.path().join("no").exists());
}

#[test]
fn a_place_that_others_can_change_anywhere_on_the_way_is_refused() {
    let place = disk_directory();
    let below = place.path().join("outer/inner");
    fs::create_dir_all(&below).unwrap();
    make(&below, "one");
    for (mode, right) in [
        (0o777, "written by all users"),
        (0o702, "written by all users"),
    ] {
        set_mode(&place.path().join("outer"), mode);
        let message = refused(&["make", text(&below), "one"]);
        assert!(message.contains(right), "{message}");
    }
    set_mode(&place.path().join("outer"), 0o755);
    let link = place.path().join("link");
    symlink(&below, &link).unwrap();
    make(&link, "two");

    let shared = below.join("paribus-data");
    fs::rename(&shared, below.join("elsewhere")).unwrap();
    symlink(below.join("elsewhere"), &shared).unwrap();
    let message = refused(&["make", text(&below), "one"]);
    assert!(message.contains("symbolic link"), "{message}");
    fs::remove_file(&shared).unwrap();
    if !machine::is_root() {
        return; // only root can give a folder away
    }
    set_mode(&place.path().join("outer"), 0o1777);
    make(&below, "three");
    chown(&shared, Some(NOBODY), None).unwrap();
    let message = refused(&["make", text(&below), "three"]);
    assert!(message.contains("belongs to nobody"), "{message}");
    chown(&shared, Some(0), None).unwrap();
    set_mode(&place.path().join("outer"), 0o755);
    chown(&shared, None, Some(NOBODY)).unwrap();
    set_mode(&shared, 0o775);
    let message = refused(&["make", text(&below), "three"]);
    assert!(message.contains("written by its group"), "{message}");
    std::os::unix::fs::lchown(&link, Some(NOBODY), None).unwrap();
    refused(&["make", text(&link), "three"]);
}

/// Another user with write access to the data folder plants links in it.
#[test]
fn a_load_neither_follows_a_planted_link_nor_works_where_others_can_plant_one() {
    let place = disk_directory();
    let directory = place.path().join("data");
    let secret = place.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    prepare(&directory, json!({}));
    fs::remove_file(directory.join("paribus.0")).unwrap();
    symlink(&secret, directory.join("paribus.0")).unwrap();
    let error = only_error(Engine::run(&job(&directory, "run", json!({}))).wait(), 1);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("symbolic link"), "{message}");
    prepare(&directory, json!({}));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");

    set_mode(&directory, 0o777);
    for phase in ["prepare", "run", "cleanup"] {
        let changes = json!({"files": 5});
        let changes = if phase == "prepare" {
            changes
        } else {
            json!({})
        };
        let ended = Engine::run(&job(&directory, phase, changes)).wait();
        assert_eq!(only_error(ended, 1)["class"], "untrusted-folder", "{phase}");
    }
}
