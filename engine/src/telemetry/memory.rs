//! Memory of the machine, from /proc/meminfo.
//!
//! In: the text. Out: bytes and averages. Called by `telemetry::sampler` and `probe`.

use serde::Serialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub total_bytes: u64,
    pub available_bytes: u64,
    pub dirty_bytes: u64,
    pub writeback_bytes: u64,
    pub cached_bytes: u64,
}

pub fn parse(meminfo: &str) -> Memory {
    let mut memory = Memory::default();
    for line in meminfo.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let field = match name {
            "MemTotal" => &mut memory.total_bytes,
            "MemAvailable" => &mut memory.available_bytes,
            "Dirty" => &mut memory.dirty_bytes,
            "Writeback" => &mut memory.writeback_bytes,
            "Cached" => &mut memory.cached_bytes,
            _ => continue,
        };
        let kibibytes = value.split_ascii_whitespace().next();
        *field = kibibytes
            .and_then(|word| word.parse::<u64>().ok())
            .unwrap_or(0)
            * 1024;
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_become_bytes_and_similar_names_are_kept_apart() {
        let memory = parse(
            "MemTotal:  100 kB\nMemAvailable: 60 kB\nCached: 7 kB\nSwapCached: 99 kB\n\
             Dirty: 3 kB\nWriteback: 2 kB\nWritebackTmp: 50 kB\n",
        );
        assert_eq!(memory.total_bytes, 102_400);
        assert_eq!((memory.cached_bytes, memory.writeback_bytes), (7168, 2048));
    }

    #[test]
    fn load_averages_are_the_first_three_numbers() {}
}
