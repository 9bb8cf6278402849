//! A stopped engine under a load of a given rate hides no delay. Operations intended during the
//! stop start late, and the response times contain the delay.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{Engine, disk_directory, job, prepare};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};

const RATE_PER_S: f64 = 1000.0;
const OUTSTANDING: u64 = 4;
const STOP: Duration = Duration::from_millis(1800);
const LONG_S: f64 = 0.1;

/// Stops the engine for a while; returns the seconds in which it certainly did nothing.
fn stop_and_continue(engine: &Engine) -> f64 {
    engine.signal(libc::SIGSTOP);
    let stat = format!("/proc/{}/stat", engine.pid());
    while !fs::read_to_string(&stat).unwrap().contains(") T ") {
        sleep(Duration::from_millis(1));
    }
    let begun = Instant::now();
    sleep(STOP);
    let stopped_s = begun.elapsed().as_secs_f64();
    engine.signal(libc::SIGCONT);
    stopped_s
}

/// The number of operations of a distribution that took longer than `LONG_S`.
fn long_ones(distribution: &Value) -> u64 {
    let text = distribution["histogram"].as_str().unwrap();
    let bytes = STANDARD.decode(text).unwrap();
    let histogram: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
    let long = histogram.iter_recorded();
    long.filter(|bucket| bucket.value_iterated_to() as f64 > LONG_S * 1e9)
        .map(|bucket| bucket.count_at_value())
        .sum()
}

/// The result of a window in which the engine was stopped, and the length of the stop.
fn window_with_a_stop(engine: &str, rate_per_s: Option<f64>, arrivals: &str) -> (Value, f64) {
    let directory = disk_directory();
    prepare(directory.path(), json!({}));
    let load = json!({"outstanding": OUTSTANDING, "rate_per_s": rate_per_s, "arrivals": arrivals});
    let changes = json!({"engine": engine, "mode": "rndrd", "measure_s": null, "load": load});
    let mut run = Engine::run(&job(directory.path(), "run", changes));
    run.wait_for_phase("settling");
    run.send(&json!({"open": "w"}));
    run.wait_for_phase("measuring");
    sleep(Duration::from_millis(300));
    let stopped_s = stop_and_continue(&run);
    // The first interval that ends after the stop reports it; then the backlog shrinks.
    while run.wait_for("interval")["duration_s"].as_f64().unwrap() < stopped_s {}
    while run.wait_for("interval")["backlog"].as_u64() > Some(OUTSTANDING) {}
    run.send(&json!({"close": "w"}));
    let result = run.wait_for("result");
    assert_eq!(run.finish().0, 0);
    (result, stopped_s)
}

fn an_open_loop_shows_the_stop(engine: &str, arrivals: &str) {
    let (result, stopped_s) = window_with_a_stop(engine, Some(RATE_PER_S), arrivals);
    let pacing = |name: &str| result["pacing"][name].as_u64().unwrap();
    let (offered, started) = (pacing("offered"), pacing("started"));
    let waited = pacing("backlog_at_end") as i64 - pacing("backlog_at_start") as i64;
    assert_eq!(
        offered as i64,
        started as i64 + waited,
        "{}",
        result["pacing"]
    );
    let reads = result["reads"].as_u64().unwrap();
    assert!(
        reads.abs_diff(started) <= OUTSTANDING,
        "{reads} of {started}"
    );
    assert_eq!(result["errors"], json!({}));

    // Five standard deviations of a Poisson process are allowed.
    let meant = |seconds: f64| RATE_PER_S * seconds;
    let slack = |count: f64| {
        if arrivals == "poisson" {
            5.0 * count.sqrt()
        } else {
            1.0
        }
    };
    let expected = meant(result["duration_s"].as_f64().unwrap());
    assert!(
        (offered as f64 - expected).abs() <= slack(expected),
        "{offered} of {expected}"
    );

    let (response, service) = (&result["response"], &result["service"]);
    let longest = response["max_s"].as_f64().unwrap();
    assert!(
        longest >= stopped_s - 20.0 / RATE_PER_S,
        "{longest} of {stopped_s}"
    );
    // All operations intended during the stop, except in its last 0.1 s.
    let expected = meant(stopped_s - LONG_S);
    let long = long_ones(response);
    assert!(
        long as f64 >= expected - slack(expected),
        "{long} of {expected}"
    );
    assert!(response["p50_s"].as_f64() > service["p99_s"].as_f64());
    // A service time contains the stop only where it began before.
    let long = long_ones(service);
    assert!(long < expected as u64 / 10, "{long} operations took long");
    if engine == "sync" {
        let late = result["pacing"]["late_max_s"].as_f64().unwrap();
        assert!(
            late >= stopped_s - 20.0 / RATE_PER_S,
            "{late} of {stopped_s}"
        );
    }
}

#[test]
fn an_open_loop_of_threads_shows_the_stop() {
    an_open_loop_shows_the_stop("sync", "constant");
}

#[test]
fn an_open_loop_of_rings_shows_the_stop() {
    an_open_loop_shows_the_stop("io_uring", "poisson");
}

/// The counterpart of the open loop: a closed loop has no intended times, so nearly nothing was
/// late.
#[test]
fn a_closed_loop_hides_the_stop() {
    let (result, stopped_s) = window_with_a_stop("sync", None, "constant");
    assert_eq!(result["pacing"], Value::Null);
    assert!(result["response"]["max_s"].as_f64().unwrap() < 2.0 * stopped_s);
    let (long, all) = (
        long_ones(&result["response"]),
        result["reads"].as_u64().unwrap(),
    );
    assert!(long < all / 100, "{long} of {all}");
}
