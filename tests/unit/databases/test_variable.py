"""Whether two texts are the same value of a variable, by what kind of variable it is."""

import pytest

from paribus.databases import offer
from paribus.databases.server.variable import ServerVariable, TakesEffect, ValueType, number_of


def _variable(kind: ValueType, *, unit: str = "", allowed: tuple[str, ...] = ()) -> ServerVariable:
    live = TakesEffect.LIVE
    return ServerVariable(name="v", value="", default=None, kind=kind, takes_effect=live, unit=unit, allowed=allowed)


FLUSH = ("fsync", "O_DSYNC", "O_DIRECT")
COMMIT = ("local", "remote_write", "on", "off")
BINLOG = ("OFF", "ON", "DEMAND")


@pytest.mark.parametrize(
    ("variable", "requested", "observed", "same"),
    [
        (_variable("bool"), "ON", "1", True),
        (_variable("bool"), "true", "on", True),
        (_variable("bool"), "no", "OFF", True),
        (_variable("bool"), "ON", "OFF", False),
        (_variable("int"), "2000", "2000", True),
        (_variable("int"), "2K", "2048", True),
        (_variable("int"), "2000", "2001", False),
        (_variable("float"), "0.50", "0.5", True),
        (_variable("size"), "1GiB", "1073741824", True),
        (_variable("size"), "1G", "1024MB", True),
        (_variable("size"), "1GiB", "1000000000", False),
        (_variable("size", unit="8kB"), "16384", "128MB", True),
        (_variable("size", unit="kB"), "4096", "4MB", True),
        (_variable("size", unit="8kB"), "-1", "-1", True),
        (_variable("time", unit="s"), "300", "5min", True),
        (_variable("time", unit="ms"), "200", "200ms", True),
        (_variable("time", unit="ms"), "1s", "1000", True),
        (_variable("time", unit="min"), "1d", "1440min", True),
        (_variable("time", unit="s"), "5m", "5min", False),
        (_variable("enum", allowed=FLUSH), "o_direct", "O_DIRECT", True),
        (_variable("enum", allowed=FLUSH), "2", "O_DIRECT", True),
        (_variable("enum", allowed=FLUSH), "fsync", "O_DIRECT", False),
        (_variable("enum", allowed=COMMIT), "true", "on", True),
        (_variable("enum", allowed=BINLOG), "1", "ON", True),
        (_variable("set"), "STRICT_TRANS_TABLES,NO_ZERO_DATE", "no_zero_date,strict_trans_tables", True),
        (_variable("set"), "", "ANSI", False),
        (_variable("set"), "mrr=on", "index_merge=on,mrr=on,semijoin=off", True),
        (_variable("set"), "mrr=on", "index_merge=on,mrr=off", False),
        (_variable("string"), "/a", "/a", True),
        (_variable("string"), "/a", "/A", False),
        (_variable("string"), "iso, mdy", "ISO, MDY", True),
        (_variable("string"), "iso, mdy", "ISO, DMY", False),
    ],
)
def test_values_are_the_same_however_they_are_written(
    variable: ServerVariable, requested: str, observed: str, same: bool
) -> None:
    assert variable.is_same(requested, observed) is same


def test_text_without_a_number_gives_none() -> None:
    for text in ("", "abc", "12x", "1 2", "ON"):
        assert number_of(text) is None


def test_a_knob_states_the_type_of_its_variable() -> None:
    knob = offer("mysql", "mariadb 10.11", _variable("int")).knob
    assert knob.documentation == "Type in mariadb 10.11: int. Takes effect: live."
