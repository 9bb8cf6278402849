"""Expressions over facts, such as `memory * 0.5` or `kernel >= '5.0' and device_kind == 'nvme'`.

In: text of a rules file, and facts by name. Out: a value, or None where a fact is unknown. It is a part of Python's
grammar that computes and compares only. Logic has three values (Kleene): `unknown and false` is false.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Scalar = bool | int | float | str
_VERSIONS = ("kernel", "version")
_MOST_CHARACTERS = 1000
_CONSTANTS = {"true": True, "false": False}
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "KiB": lambda size: size * 2**10,
    "MiB": lambda size: size * 2**20,
    "GiB": lambda size: size * 2**30,
}


@dataclass(frozen=True)
class Expression:
    """An expression of a rule, in its text. `checked` is to be called before it is used."""

    text: str

    def checked(self) -> "Expression":
        """This expression. Raises ValueError where it is none."""
        if len(self.text) > _MOST_CHARACTERS:
            raise ValueError(f"the expression has more than {_MOST_CHARACTERS} characters")
        try:
            _check(self._tree)
        except (RecursionError, MemoryError) as error:
            raise ValueError(f"{self.text[:40]!r}… is nested too deeply") from error
        return self

    @cached_property
    def _tree(self) -> ast.expr:
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"{self.text!r} is no expression: {error.msg}") from error

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its facts and settings, in order."""
        names = [name for node in ast.walk(self._tree) if (name := _name(node)) is not None]
        called = {_name(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        parts = {name.rpartition(".")[0] for name in names}
        return tuple(name for name in dict.fromkeys(names) if name not in {*called, *parts, *_CONSTANTS})

    def value(self, facts: Mapping[str, Scalar]) -> Scalar | None:
        """The value; None where it depends on a fact that is unknown. Raises ValueError where it has none."""
        try:
            value: Scalar | None = _value(self._tree, facts)
        except (TypeError, ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"{self.text!r} has no value here: {error}") from error
        return value


def version_of(text: object) -> tuple[int, ...]:
    """The numbers that a version begins with: (6, 12, 3) of `6.12.3-amd64`."""
    match = _NUMBERS.match(str(text))
    return tuple(map(int, match[0].split("."))) if match else ()


def _name(node: ast.AST) -> str | None:
    """The name of a fact or a setting: of `mysql.sync_binlog` all of it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := _name(node.value)) is not None:
        return f"{owner}.{node.attr}"
    return None


def _check(node: ast.expr) -> None:
    """Raise ValueError where the expression does more than compute and compare."""
    match node:
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=part):
            parts = [part]
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
            parts = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=more) if all(type(op) in _COMPARISONS for op in ops):
            parts = [left, *more]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            pass
        case ast.Constant(value=bool() | int() | float() | str()):
            parts = []
        case _ if _name(node) is not None:
            parts = []
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is not allowed: write comparisons, numbers, texts and names")
    for part in parts:
        _check(part)


def _value(node: ast.expr, facts: Mapping[str, Scalar]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.BoolOp(op=op, values=parts):
            return _joined([_value(part, facts) for part in parts], decisive=isinstance(op, ast.Or))
        case ast.UnaryOp(op=op, operand=part):
            value = _value(part, facts)
            return None if value is None else not value if isinstance(op, ast.Not) else -value
        case ast.BinOp(op=op, left=left, right=right):
            return _applied(_ARITHMETIC[type(op)], _number(left, facts), _number(right, facts))
        case ast.Compare(left=left, ops=ops, comparators=more):
            return _compared(left, ops, more, facts)
        case ast.Call(func=ast.Name(id=name), args=parts):
            return _applied(_FUNCTIONS[name], *(_value(part, facts) for part in parts))
        case ast.Tuple(elts=parts):
            return tuple(_value(part, facts) for part in parts)
        case _:
            name = _name(node) or ""
            return _CONSTANTS.get(name, facts.get(name))


def _number(node: ast.expr, facts: Mapping[str, Scalar]) -> Any:
    """The value of a part that is computed with. Raises TypeError for words."""
    value = _value(node, facts)
    if isinstance(value, str):
        raise TypeError(f"{ast.unparse(node)} is {value!r}, which is no number")
    return value


def _joined(values: list[bool | None], *, decisive: bool) -> bool | None:
    """The parts of an `and` or `or`; a `decisive` part settles it, whatever is unknown."""
    if any(value is not None and bool(value) is decisive for value in values):
        return decisive
    return None if None in values else not decisive


def _applied(function: Callable[..., Any], *values: Any) -> Any:
    return None if None in values else function(*values)


def _as_version(value: Any) -> Any:
    """The numbers of a version, or of each in a list of versions."""
    if isinstance(value, tuple):
        return tuple(map(_as_version, value))
    return None if value is None else version_of(value)


def _compared(left: ast.expr, ops: list[ast.cmpop], more: list[ast.expr], facts: Mapping[str, Scalar]) -> bool | None:
    sides = [left, *more]
    values = [_value(side, facts) for side in sides]
    if any(_name(side) in _VERSIONS for side in sides):
        values = [_as_version(value) for value in values]
    pairs = zip(ops, values, values[1:], strict=False)
    return _joined([_applied(_COMPARISONS[type(op)], first, second) for op, first, second in pairs], decisive=False)
