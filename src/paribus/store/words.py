"""Words as columns have them: recorded ones with their message and values, so that they can be said again."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

from paribus.i18n import StoredMessage, stored_message


class Words(TypeDecorator[Sequence[str]]):
    """Several sentences as JSON: `{"message": …, "values": …}` of recorded ones, others as they are."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> object:  # noqa: ARG002
        """As it is kept."""
        return None if value is None else [_kept(words) for words in value]

    def process_result_value(self, value: Sequence[object] | None, dialect: Dialect) -> Sequence[Any] | None:  # noqa: ARG002
        """As it was."""
        return None if value is None else [_given_back(words) for words in value]


def _kept(value: object) -> object:
    if isinstance(value, StoredMessage):
        return {"message": value.message, "values": {name: _kept(one) for name, one in value.values.items()}}
    return [_kept(one) for one in value] if isinstance(value, list) else value


def _given_back(value: Any) -> Any:
    if isinstance(value, dict):
        try:
            message, values = value["message"], value["values"]
            return stored_message(message, **{name: _given_back(one) for name, one in values.items()})
        except (LookupError, ValueError, TypeError, AttributeError):  # damaged, or of a release that says it otherwise
            return str(value.get("message", value))
    return [_given_back(one) for one in value] if isinstance(value, list) else value
