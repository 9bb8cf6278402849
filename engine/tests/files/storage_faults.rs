//! Faulty storage under the real binary: every failure is counted and reported once, and the run
//! always ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::thread::sleep;
use std::time::Duration;

use crate::faulty::{Answer, Answered, Faulty, Kind, Rule, every, may_mount, prepared, within};
use crate::harness::{Engine, job, named, only_error};
use serde_json::{Value, json};

const BLOCK: u64 = 16_384;
const ENGINES: [&str; 2] = ["sync", "io_uring"];
const EIO: Answer = Answer::Error(libc::EIO);

/// A window's report and the storage's answers in exactly that window. While the window is opened
/// and closed, the storage holds every operation, so that none is in flight.
fn watched_window(
    storage: &Faulty,
    changes: Value,
    outstanding: usize,
    rules: Vec<Rule>,
) -> (Value, Answered) {
    let disk = &storage.disk;
    let mut run = job(storage.path(), "run", changes);
    run["measure_s"] = Value::Null;
    run["load"]["outstanding"] = json!(outstanding);
    disk.hold();
    let mut engine = Engine::run(&run);
    disk.wait_until_held(outstanding);
    disk.obey(rules);
    let before = disk.answered();
    engine.send(&json!({"open": "w"}));
    engine.wait_for_phase("measuring");
    disk.release();
    sleep(Duration::from_millis(200));
    disk.hold();
    disk.wait_until_held(outstanding);
    let after = disk.answered();
    engine.send(&json!({"close": "w"}));
    let result = engine.wait_for("result");
    disk.obey(Vec::new());
    disk.release();
    let (code, events) = engine.finish();
    assert_eq!(code, 0, "{events:#?}");
    (result, after.since(&before))
}

fn assert_agree(result: &Value, answered: &Answered) {
    let count = |name: &str| result[name].as_u64().unwrap();
    let counted = (count("reads"), count("writes"), count("fsyncs"));
    let expected = (answered.reads, answered.writes, answered.fsyncs);
    assert_eq!(counted, expected, "{result:#}");
    assert_eq!(count("operations"), counted.0 + counted.1 + counted.2);
    assert_eq!(count("read_bytes"), counted.0 * BLOCK);
    assert_eq!(count("written_bytes"), counted.1 * BLOCK);
    assert_eq!(result["response"]["count"], result["operations"]);
    let error = |class: &str| result["errors"][class].as_u64().unwrap_or(0);
    let (failed, short) = (error("io-error"), error("short-io"));
    let refused: u64 = answered.errors.values().sum();
    let (short_reads, short_writes) = (answered.short_reads, answered.short_writes);
    assert_eq!(
        failed + short,
        refused + short_reads + short_writes,
        "{result:#}"
    );
    // With io_uring, the kernel turns a short write into an error.
    assert!(
        (short_reads..=short_reads + short_writes).contains(&short),
        "{result:#}"
    );
    let classes = result["errors"].as_object().unwrap().len();
    assert_eq!(classes, usize::from(failed > 0) + usize::from(short > 0));
}

#[test]
fn failures_that_may_pass_are_counted_exactly_and_the_load_goes_on() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    let rules = [
        within(0..4 * BLOCK, Kind::Read, EIO),
        within(8 * BLOCK..12 * BLOCK, Kind::Write, EIO),
        within(16 * BLOCK..20 * BLOCK, Kind::Read, Answer::Short(4096)),
        within(24 * BLOCK..28 * BLOCK, Kind::Write, Answer::Short(512)),
        within(32 * BLOCK..36 * BLOCK, Kind::Write, Answer::Short(0)),
        every(Kind::Fsync, EIO),
    ];
    for engine in ENGINES {
        // More than one only without fsyncs: the kernel delays those during a write to the same
        // file, so they would never be held.
        for (way, mode, outstanding, fsync_every) in [
            ("direct", "rndrw", 8, 0),
            ("direct", "seqrewr", 3, 0),
            ("direct", "rndrw", 1, 10),
            ("buffered", "rndwr", 1, 10),
        ] {
            let changes = json!({"engine": engine, "mode": mode, "direct": way == "direct",
                                 "fsync_every": fsync_every});
            let (result, answered) = watched_window(&storage, changes, outstanding, rules.to_vec());
            assert_agree(&result, &answered);
            let context = format!("{engine} {way} {mode}: {answered:?}");
            assert!(answered.errors[&libc::EIO] > 0, "{context}");
            assert!(
                answered.short_writes > 0 && answered.writes > 0,
                "{context}"
            );
            assert_eq!(answered.short_reads > 0, mode == "rndrw", "{context}");
        }
    }
}

#[test]
fn storage_without_faults_is_counted_exactly() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    for engine in ENGINES {
        let changes = json!({"engine": engine, "direct": true, "fsync_every": 0});
        let (result, answered) = watched_window(&storage, changes, 16, Vec::new());
        assert_agree(&result, &answered);
        assert!(answered.reads > 0 && answered.writes > 0);
    }
}

#[test]
fn buffered_reads_of_bad_places_are_counted_and_the_others_go_on() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    for engine in ENGINES {
        let rules = vec![within(0..4 * BLOCK, Kind::Read, EIO)];
        let changes = json!({"engine": engine, "mode": "rndrd", "measure_s": 0.3});
        storage.disk.obey(rules);
        let (code, events) = Engine::run(&job(storage.path(), "run", changes)).wait();
        assert_eq!(code, 0, "{events:#?}");
        let result = named(&events, "result")[0];
        assert!(result["reads"].as_u64().unwrap() > 0);
        assert!(result["errors"]["io-error"].as_u64().unwrap() > 0);
    }
}

/// The counts of all intervals of a run; errors by class come last.
fn told_by_intervals(events: &[Value], class: &str) -> (u64, u64, u64) {
    let sum = |of: &dyn Fn(&Value) -> Option<u64>| -> u64 {
        named(events, "interval").into_iter().filter_map(of).sum()
    };
    (
        sum(&|interval| interval["operations"].as_u64()),
        sum(&|interval| interval["written_bytes"].as_u64()),
        sum(&|interval| interval["errors"][class].as_u64()),
    )
}

#[test]
fn a_load_that_finds_no_space_ends_and_tells_what_it_wrote_before() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    let blocks = 57;
    for engine in ENGINES {
        for direct in [false, true] {
            storage.disk.leave_room(Some(blocks * BLOCK + 100));
            let changes = json!({"engine": engine, "direct": direct, "mode": "rndwr", "fsync_every": 0,
                                 "measure_s": 600.0, "load": {"outstanding": 1}});
            let outcome = Engine::run(&job(storage.path(), "run", changes)).wait();
            let counts = told_by_intervals(&outcome.1, "disk-full");
            assert_eq!(counts, (blocks, blocks * BLOCK, 1));
            let error = only_error(outcome, 1);
            assert_eq!(error["class"], "disk-full");
            assert_names_the_place(&error, "No space left");
        }
    }
}

/// The message names the file, the offset and the cause.
fn assert_names_the_place(error: &Value, cause: &str) {
    let message = error["message"].as_str().unwrap();
    let path = error["path"].as_str().unwrap();
    assert!(
        path.contains("paribus.") && message.contains(path),
        "{message}"
    );
    let (_, after) = message.split_once("at offset ").expect(message);
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let offset: u64 = digits.parse().expect(message);
    assert!(
        offset.is_multiple_of(BLOCK) && offset < 1 << 20,
        "{message}"
    );
    assert!(message.contains(cause), "{message}");
}

#[test]
fn errors_that_do_not_pass_end_the_load_with_their_class() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    for (number, (errno, class)) in [
        (libc::EDQUOT, "disk-full"),
        (libc::EROFS, "permission"),
        (libc::EFBIG, "file-too-large"),
        (libc::ESTALE, "file-vanished"),
        (libc::ENOMEM, "out-of-memory"),
    ]
    .into_iter()
    .enumerate()
    {
        let engine = ENGINES[number % 2];
        storage
            .disk
            .obey(vec![every(Kind::Write, Answer::Error(errno))]);
        let changes =
            json!({"engine": engine, "direct": true, "mode": "rndwr", "measure_s": 600.0});
        let outcome = Engine::run(&job(storage.path(), "run", changes)).wait();
        let counts = told_by_intervals(&outcome.1, class);
        assert!(counts.0 == 0 && (1..=4).contains(&counts.2), "{counts:?}");
        let error = only_error(outcome, 1);
        assert_eq!(error["class"], class);
        let cause = std::io::Error::from_raw_os_error(errno).to_string();
        assert_names_the_place(&error, &cause);
    }
}

#[test]
fn when_every_operation_fails_the_load_ends() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    for engine in ENGINES {
        for (answer, class, cause) in [
            (EIO, "io-error", "Input/output error"),
            (Answer::Short(0), "short-io", "only 0 were transferred"),
            (
                Answer::Short(16_383),
                "short-io",
                "only 16383 were transferred",
            ),
        ] {
            storage.disk.obey(vec![every(Kind::Read, answer)]);
            let changes =
                json!({"engine": engine, "direct": true, "mode": "rndrd", "measure_s": 600.0});
            let outcome = Engine::run(&job(storage.path(), "run", changes)).wait();
            let counts = told_by_intervals(&outcome.1, class);
            assert!(counts.0 == 0 && counts.2 >= 100, "{counts:?}");
            let error = only_error(outcome, 1);
            assert_eq!(error["class"], class);
            assert_names_the_place(&error, cause);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("operations in a row"), "{message}");
        }
    }
}

#[test]
fn an_fsync_that_fails_at_the_end_is_an_error_of_the_run_and_the_result_stands() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    storage.disk.obey(vec![every(Kind::Fsync, EIO)]);
    let changes = json!({"mode": "rndwr", "fsync_every": 0});
    let outcome = Engine::run(&job(storage.path(), "run", changes)).wait();
    let result = named(&outcome.1, "result")[0].clone();
    assert!(result["writes"].as_u64().unwrap() > 0);
    assert_eq!(result["errors"], json!({}));
    let error = only_error(outcome, 1);
    assert_eq!(error["class"], "io-error");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("fsync") && message.contains("paribus.0"),
        "{message}"
    );
}

#[test]
fn a_prepare_on_bad_storage_names_the_file_and_leaves_nothing_that_could_be_run() {
    if !may_mount() {
        return;
    }
    for (rule, cause) in [
        (within(700_000..700_001, Kind::Write, EIO), "Input/output"),
        (every(Kind::Fsync, EIO), "Input/output"),
    ] {
        let storage = Faulty::mount();
        storage.disk.obey(vec![rule]);
        let start = |phase| Engine::run(&job(storage.path(), phase, json!({})));
        let error = only_error(start("prepare").wait(), 1);
        assert_eq!(error["class"], "io-error");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("paribus.") && message.contains(cause),
            "{message}"
        );
        storage.disk.obey(Vec::new());
        assert_eq!(only_error(start("run").wait(), 1)["class"], "not-prepared");
        assert_eq!(start("cleanup").wait().0, 0);
        assert_eq!(storage.honest().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn a_load_that_the_storage_never_answers_can_be_stopped() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    for engine in ENGINES {
        storage.disk.hold();
        let changes = json!({"engine": engine, "direct": true, "measure_s": 600.0});
        let mut run = Engine::run(&job(storage.path(), "run", changes));
        run.wait_for_phase("measuring");
        storage.disk.wait_until_held(4);
        run.close_stdin();
        assert_eq!(run.wait_for("error")["class"], "interrupted");
        // Only now can the kernel release the process.
        storage.disk.release();
        assert_eq!(run.wait().0, 1);
    }
}
