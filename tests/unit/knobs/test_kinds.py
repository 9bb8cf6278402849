"""Cases of reading and writing, one line each: files in, value out, and the write that sets a value."""

import pytest

from ceteris.knobs import kinds
from ceteris.model import Value
from ceteris.registry import knob_kinds

assert kinds

CASES = [
    ("sysfs", ("[none] mq-deadline kyber bfq \n",), "none", ("none", "mq-deadline", "kyber", "bfq")),
    ("sysfs", ("none [mq-deadline]\n",), "mq-deadline", ("none", "mq-deadline")),
    ("sysfs", ("128\n",), 128, ()),
    ("sysfs", ("-1\n",), -1, ()),
    ("sysfs", ("write back\n",), "write back", ()),
    ("sysctl", ("60\n",), 60, ()),
    ("sysctl", ("250\t32000\t32\t128\n",), "250 32000 32 128", ()),
    ("ratio_or_bytes", ("20\n", "0\n"), "20%", ()),
    ("ratio_or_bytes", ("0\n", "67108864\n"), 67108864, ()),
    ("ratio_or_bytes", ("0\n", "0\n"), "0%", ()),
    ("every", ("performance\n", "performance\n"), "performance", ()),
    ("every", ("performance\n", "powersave\n"), "performance|powersave", ()),
    ("every", ("0-1\n",), "0-1", ()),
]


@pytest.mark.parametrize(("kind", "texts", "value", "allowed"), CASES)
def test_files_are_read(kind: str, texts: tuple[str, ...], value: Value, allowed: tuple[Value, ...]) -> None:
    reading = knob_kinds.get(kind).parse(tuple("ab"), texts)
    assert (reading.value, reading.allowed) == (value, allowed)
    assert type(reading.value) is type(value)


@pytest.mark.parametrize(
    ("kind", "addresses", "value", "path", "text"),
    [
        ("sysfs", ("/s",), "bfq", "/s", "bfq"),
        ("sysfs", ("/s",), 128, "/s", "128"),
        ("sysctl", ("/p",), 60, "/p", "60"),
        ("ratio_or_bytes", ("/ratio", "/bytes"), "20%", "/ratio", "20"),
        ("ratio_or_bytes", ("/ratio", "/bytes"), 67108864, "/bytes", "67108864"),
    ],
)
def test_values_are_written(kind: str, addresses: tuple[str, ...], value: Value, path: str, text: str) -> None:
    (action,) = knob_kinds.get(kind).writes(addresses, value)
    assert (action.path, action.text) == (path, text)


@pytest.mark.parametrize(("kind", "texts", "value", "allowed"), CASES)
def test_a_value_read_is_the_same_as_itself(
    kind: str, texts: tuple[str, ...], value: Value, allowed: tuple[Value, ...]
) -> None:
    assert knob_kinds.get(kind).same(value, value)
    assert not knob_kinds.get(kind).same(value, "something else")
