"""Counters of caches, from what device-mapper and bcache print."""

import pytest

from paribus.hosts.fake import FakeHost
from paribus.knobs.layouts.volume import Names
from paribus.trial.layouts.cache_counters import CacheCounts, cache_counts, measurements, parse_dirty, parse_status

CACHE = "0 262144 cache 8 27/1024 128 500/1000 30 10 50 10 1 2 7 1 writeback 2 migration_threshold 2048 smq 0 rw -"
WRITECACHE = "0 262144 writecache 0 1000 400 0 80 60 90 10 5 2 70 0 3 0"


def test_a_status_has_lookups_hits_and_dirty_blocks() -> None:
    assert parse_status(CACHE.split()) == CacheCounts(100, 80, 7 * 64 * 1024)
    assert parse_status(WRITECACHE.split()) == CacheCounts(80, 60, 600 * 4096)
    for other in ("0 8 linear 8:0 0", "0 8 cache Fail", "", "0 8 writecache 0 x y"):
        assert parse_status(other.split()) is None


@pytest.mark.parametrize(("text", "expected"), [("0.0k\n", 0.0), ("1.5M\n", 1.5 * (1 << 20)), ("512\n", 512.0)])
def test_dirty_data_is_in_powers_of_1024(text: str, expected: float) -> None:
    assert parse_dirty(text) == expected


def test_bcache_is_found_by_its_label() -> None:
    names = Names("ab12")

    class LinkedHost(FakeHost):
        def resolve(self, path: str) -> str:
            return "/dev/bcache0" if path == names.cached_path else path

    folder = "/sys/class/block/bcache0/bcache"
    files = {"stats_total/cache_hits": "9\n", "stats_total/cache_misses": "1\n", "dirty_data": "1.0k\n"}
    host = LinkedHost({f"{folder}/{name}": text for name, text in files.items()})
    assert cache_counts(host, names) == CacheCounts(10, 9, 1024.0)
    assert cache_counts(FakeHost({}), names) is None


def test_only_the_lookups_of_a_trial_count() -> None:
    before, after = CacheCounts(100, 80, 0.0), CacheCounts(140, 90, 4096.0)
    values = {each.metric: each.mean for each in measurements(before, after)}
    assert values == {"cache_dirty_bytes": 4096.0, "cache_hit_share": 0.25}
    assert [each.metric for each in measurements(after, after)] == ["cache_dirty_bytes"]
    assert measurements(None, after) == ()
