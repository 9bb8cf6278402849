//! Time: nanoseconds of CLOCK_MONOTONIC for measuring, UTC for people and for aligning hosts.
//!
//! In: nothing. Out: times. Called by every module that measures or stamps.

/// Nanoseconds of CLOCK_MONOTONIC.
pub type Nanos = u64;

pub const SECOND: Nanos = 1_000_000_000;

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Each operation reads the clock. libc finds the vDSO before `main`; rustix would check at each
    // call whether it has been found.
    // SAFETY: `time` is a valid, writable timespec for the whole call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// Now, on the clock that never steps. One vDSO call, no system call on usual clock sources.
#[inline]
pub fn now() -> Nanos {
    read(libc::CLOCK_MONOTONIC)
}

/// Seconds since 1970 in UTC.
pub fn unix_s() -> f64 {
    seconds(read(libc::CLOCK_REALTIME))
}

pub fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}

/// Seconds as nanoseconds; negative and non-finite become 0, so callers check their input first.
pub fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64) as Nanos
}

/// Sleeps until the monotonic time `deadline`, or not at all when it is past.
pub fn sleep_until(deadline: Nanos) {
    let now = now();
    if deadline > now {
        std::thread::sleep(std::time::Duration::from_nanos(deadline - now));
    }
}

/// Now in UTC as `2025-01-31T12:34:56.789Z`.
pub fn utc_text() -> String {
    utc_text_of(read(libc::CLOCK_REALTIME) / 1_000_000)
}

fn utc_text_of(unix_ms: u64) -> String {
    let (days, in_day) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    // Civil date from the day number: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (second, ms) = (in_day / 1000, in_day % 1000);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_text_knows_leap_days_and_year_ends() {
        assert_eq!(utc_text_of(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc_text_of(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(utc_text_of(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
    }

    #[test]
    fn monotonic_time_does_not_go_back() {
        let first = now();
        assert!(now() >= first);
    }
}
