"""Literals that bound a column from below and from above in a condition."""

from typing import Any

from sqlglot import exp

from paribus.lab.statement_mix.marks import marked_position

LOWER = (exp.GT, exp.GTE)
UPPER = (exp.LT, exp.LTE)
TRANSPARENT = (exp.Paren, exp.Neg, exp.Cast)


def range_within(draw: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """Return an argument of the same type with other bounds."""
    return {"int": [int(low), int(high)]} if "int" in draw else {"float": [float(low), float(high)]}


def bounds_of(outer: exp.Expr) -> tuple[int | None, int | None]:
    """Return the positions of the literals that bound a column from below and from above, in one condition."""
    parent = outer.parent
    if isinstance(parent, exp.Between):
        return _position(parent.args["low"]), _position(parent.args["high"])
    assert parent is not None
    is_lower, column = _comparison(parent)
    position = _position(outer)
    conjunction = parent.parent
    while isinstance(conjunction, exp.And | exp.Paren):
        for other in conjunction.find_all(*LOWER, *UPPER):
            if other is not parent and _comparison(other) == (not is_lower, column):
                sides = (_position(other.this), _position(other.expression))
                second = next((side for side in sides if side is not None), None)
                if second is not None:
                    return (position, second) if is_lower else (second, position)
        conjunction = conjunction.parent
    return (position, None) if is_lower else (None, position)


def _comparison(comparison: exp.Expr) -> tuple[bool, str]:
    """Whether it is a lower bound, and of which column."""
    if isinstance(comparison.this, exp.Column):
        return isinstance(comparison, LOWER), comparison.this.sql()
    return isinstance(comparison, UPPER), comparison.expression.sql()


def _position(node: exp.Expr | None) -> int | None:
    while isinstance(node, TRANSPARENT):
        node = node.this
    if isinstance(node, exp.Placeholder):
        return int(node.name[1:])
    return marked_position(node.name) if isinstance(node, exp.Var) else None
