"""Column type for messages: stored messages keep their id and values, so that they can be translated when read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

from paribus.i18n import StoredMessage, stored_message


class StoredMessages(TypeDecorator[Sequence[str]]):
    """A list of messages as JSON: `{"message": …, "values": …}` for a StoredMessage, plain strings unchanged."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> object:  # noqa: ARG002
        """Return the JSON value of the column."""
        return None if value is None else [messages_to_json(message) for message in value]

    def process_result_value(self, value: Sequence[object] | None, dialect: Dialect) -> Sequence[Any] | None:  # noqa: ARG002
        """Return the messages."""
        return None if value is None else [messages_from_json(message) for message in value]


def messages_to_json(value: object) -> object:
    """Return the JSON value of messages."""
    if isinstance(value, StoredMessage):
        return {
            "message": value.message,
            "values": {name: messages_to_json(item) for name, item in value.values.items()},
        }
    return [messages_to_json(item) for item in value] if isinstance(value, list) else value


def messages_from_json(value: Any) -> Any:
    """Return the messages of a JSON value."""
    if isinstance(value, dict):
        try:
            message, values = value["message"], value["values"]
            return stored_message(message, **{name: messages_from_json(item) for name, item in values.items()})
        except (
            LookupError,
            ValueError,
            TypeError,
            AttributeError,
        ):  # damaged, or written by a release with another pattern
            return str(value.get("message", value))
    return [messages_from_json(item) for item in value] if isinstance(value, list) else value
