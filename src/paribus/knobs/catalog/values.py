"""Parsers of the values of a plan, by the type of a knob.

Each raises ValueError with the correct form.
"""

from collections.abc import Callable

from paribus.model import SYSTEM, Knob, Value
from paribus.units import parse_share, parse_size

_LEAST_CORES = 0.01  # the kernel's least quota is 1 ms in 100 ms


def _as_it_is(_knob: Knob, _key: str, value: Value) -> Value:
    """Any value; the server judges it."""
    return value


def _integer(knob: Knob, _key: str, value: Value) -> int:
    """A whole number within the knob's bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    if knob.minimum is not None and value < knob.minimum:
        raise ValueError(f"{value} is below {knob.minimum}")
    if knob.maximum is not None and value > knob.maximum:
        raise ValueError(f"{value} is above {knob.maximum}")
    return value


def _switch(_knob: Knob, _key: str, value: Value) -> str:
    """ON or OFF."""
    state = {"on": "ON", "true": "ON", "1": "ON", "off": "OFF", "false": "OFF", "0": "OFF"}.get(str(value).lower())
    if state is None:
        raise ValueError(f"{value!r} is neither on nor off")
    return state


def _enumerated(knob: Knob, _key: str, value: Value) -> Value:
    """One of the values allowed, whatever its case."""
    text = ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
    matches = [allowed for allowed in knob.allowed if str(allowed).casefold() == text.casefold()]
    if not matches:
        raise ValueError(f"{value!r} is none of {', '.join(map(str, knob.allowed))}")
    return matches[0]


def _number(knob: Knob, _key: str, value: Value) -> int | float:
    """A number within the knob's bounds, also as a size such as "4GiB"."""
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is not a number")
    number = parse_size(value) if isinstance(value, str) else value
    if knob.minimum is not None and number < knob.minimum:
        raise ValueError(f"{value} is below {knob.minimum}")
    if knob.maximum is not None and number > knob.maximum:
        raise ValueError(f"{value} is above {knob.maximum}")
    return number


def _layout(_knob: Knob, _key: str, value: Value) -> str:
    """A layout as text, also from a table."""
    from paribus.knobs.layouts.layout import parse_layout  # its models take time to import

    return parse_layout(value).text


def _size(_knob: Knob, _key: str, value: Value) -> int:
    """Bytes, also as `"256MiB"`."""
    if isinstance(value, bool | float):
        raise ValueError(f"{value!r} is not a size such as '256MiB'")
    return parse_size(value)


def _limit(_knob: Knob, _key: str, value: Value) -> Value:
    """`"max"`, a number or a size."""
    if value == "max":
        return value
    if isinstance(value, bool | float) or (number := parse_size(value)) < 1:
        raise ValueError(f"{value!r} is neither 'max' nor a number above 0")
    return number


def _integer_or_system(knob: Knob, key: str, value: Value) -> Value:
    """A whole number within the knob's bounds, or `"system"`."""
    if value == SYSTEM:
        return value
    try:
        return _integer(knob, key, value)
    except ValueError as error:
        raise ValueError(f"{error}, nor is it {SYSTEM!r}") from error


def _cores(_knob: Knob, _key: str, value: Value) -> Value:
    """`"max"`, or a number of processors such as 1.5."""
    if value == "max":
        return value
    if isinstance(value, bool | str) or value < _LEAST_CORES:
        raise ValueError(f"{value!r} is neither 'max' nor a number of processors from {_LEAST_CORES} on")
    return float(value)


def _share_or_size(_knob: Knob, key: str, value: Value) -> Value:
    """`"20%"`, or bytes."""
    if isinstance(value, bool | float):
        raise ValueError(f"{value!r} is neither a share such as '20%' nor a size such as '256MiB'")
    if key.endswith("_ratio") and isinstance(value, int):
        value = f"{value}%"
    if key.endswith("_kbytes") and isinstance(value, int):
        value *= 1024
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = parse_share(value) * 100
        if percent != int(percent) or not 0 <= percent <= 100:
            raise ValueError(f"{value!r} is not a whole percentage from 0 to 100")
        return f"{int(percent)}%"
    return parse_size(value)


# By a knob's type; words have none.
PARSERS: dict[str, Callable[[Knob, str, Value], Value]] = {
    "share_or_size": _share_or_size,
    "limit": _limit,
    "integer_or_system": _integer_or_system,
    "cores": _cores,
    "size": _size,
    "switch": _switch,
    "enumerated": _enumerated,
    "number": _number,
    "integer": _integer,
    "raw": _as_it_is,
    "layout": _layout,
}
