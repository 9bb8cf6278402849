//! Counts of pages since boot, from /proc/vmstat.
//!
//! In: the text. Out: `PageCounts`. Called by `telemetry::sampler`.

/// None of what this kernel does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Examined in order to free memory. Kernels before 5.8 do not count all of them.
    pub scanned: Option<u64>,
    /// Became dirty.
    pub dirtied: Option<u64>,
}

/// Reclaim for control groups included, which `pgscan_kswapd` and `pgscan_direct` leave out.
pub fn parse(vmstat: &str) -> PageCounts {
    let (mut anonymous, mut file, mut dirtied) = (None, None, None);
    for (name, value) in vmstat.lines().filter_map(|line| line.split_once(' ')) {
        let counter = match name {
            "pgscan_anon" => &mut anonymous,
            "pgscan_file" => &mut file,
            "nr_dirtied" => &mut dirtied,
            _ => continue,
        };
        *counter = value.trim().parse::<u64>().ok();
    }
    PageCounts {
        scanned: anonymous
            .zip(file)
            .map(|(anonymous, file)| anonymous + file),
        dirtied,
    }
}

pub fn page_bytes() -> u64 {
    // rustix reads the auxiliary vector and the vDSO for it, which ends a process under valgrind.
    // SAFETY: asks for a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_and_file_pages_are_added() {
        let vmstat = "pgscan_kswapd 90\npgscan_direct 7\npgscan_anon 3\npgscan_file 97\n";
        assert_eq!(parse(vmstat).scanned, Some(100));
    }

    #[test]
    fn an_older_kernel_does_not_report_them() {
        assert_eq!(parse("pgscan_kswapd 90\npgscan_direct 7\n").scanned, None);
        assert_eq!(parse("pgscan_anon 3\n").scanned, None);
    }

    #[test]
    fn dirtied_pages_are_not_those_that_are_dirty() {
        let vmstat = "nr_dirty 4\nnr_dirtied 1234\nnr_written 1200\n";
        assert_eq!(parse(vmstat).dirtied, Some(1234));
    }
}
