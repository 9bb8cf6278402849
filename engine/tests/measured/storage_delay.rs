//! Response times on storage of a known delay.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use serde_json::json;

use crate::faulty::{may_mount, prepared};
use crate::harness::{Engine, job, named};

#[test]
fn a_known_delay_is_in_every_response_time_and_littles_law_holds() {
    if !may_mount() {
        return;
    }
    let storage = prepared();
    let delay_s = 0.025;
    storage.disk.delay(Duration::from_secs_f64(delay_s));
    for (engine, outstanding) in [("sync", 1), ("sync", 12), ("io_uring", 1), ("io_uring", 12)] {
        let changes = json!({"engine": engine, "direct": true, "load": {"outstanding": outstanding},
                             "measure_s": 0.8});
        let (code, events) = Engine::run(&job(storage.path(), "run", changes)).wait();
        assert_eq!(code, 0, "{events:#?}");
        let result = named(&events, "result")[0];
        let response = |name: &str| result["response"][name].as_f64().unwrap();
        assert!(response("min_s") >= delay_s, "{}", result["response"]);
        assert!(result["throughput_per_s"].as_f64().unwrap() <= outstanding as f64 / delay_s * 1.1);
        // Each slot is always in an operation. The law can miss only operations across an edge of
        // the window. That is at most one per slot at each edge.
        let duration_s = result["duration_s"].as_f64().unwrap();
        let operations = result["operations"].as_f64().unwrap();
        let in_operations = operations / duration_s * response("mean_s");
        let edge = f64::from(outstanding) * response("max_s") / duration_s;
        assert!(
            (in_operations - f64::from(outstanding)).abs() <= edge,
            "{engine}: {in_operations} outstanding, wanted {outstanding} within {edge}"
        );
    }
}
