//! Memory reclaim, from /proc/vmstat: pages that the kernel has examined in order to free memory.
//!
//! In: the text. Out: pages since boot. Called by `telemetry::sampler`.

/// Reclaim for control groups included, which `pgscan_kswapd` and `pgscan_direct` leave out.
const COUNTERS: [&str; 2] = ["pgscan_anon", "pgscan_file"];

/// None on kernels before 5.8, which do not count both.
pub fn scanned_pages(vmstat: &str) -> Option<u64> {
    let mut counts = COUNTERS.map(|_| None);
    for line in vmstat.lines() {
        let Some((name, value)) = line.split_once(' ') else {
            continue;
        };
        if let Some(index) = COUNTERS.iter().position(|counter| *counter == name) {
            counts[index] = value.trim().parse::<u64>().ok();
        }
    }
    counts
        .into_iter()
        .try_fold(0, |total, count| Some(total + count?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_and_file_pages_are_added() {
        let vmstat = "pgscan_kswapd 90\npgscan_direct 7\npgscan_anon 3\npgscan_file 97\n";
        assert_eq!(scanned_pages(vmstat), Some(100));
    }

    #[test]
    fn an_older_kernel_does_not_report_them() {
        assert_eq!(scanned_pages("pgscan_kswapd 90\npgscan_direct 7\n"), None);
        assert_eq!(scanned_pages("pgscan_anon 3\n"), None);
    }
}
