"""The column type of messages: ids and values are stored, plain strings of older stores are unchanged."""

import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from paribus.i18n import Language, StoredMessage, speaking, stored_message, translate_stored
from paribus.store.message_column import StoredMessages

TABLE = sa.Table("log", sa.MetaData(), sa.Column("words", StoredMessages))
SHORT = stored_message("many short-lived processes")
MESSAGE = stored_message(
    "other processes took {cpu:.2f} of {cores} cores: {who}", cpu=1.254, cores=2, who=["backup (7)", SHORT]
)


@pytest.fixture
def connection() -> Iterator[sa.Connection]:
    engine = sa.create_engine("sqlite://")
    TABLE.create(engine)
    with engine.connect() as opened:
        yield opened


def test_messages_are_read_with_their_id_and_values(connection: sa.Connection) -> None:
    connection.execute(sa.insert(TABLE), {"words": ("plain", MESSAGE)})
    plain, message = connection.scalar(sa.select(TABLE.c.words))
    assert (plain, isinstance(plain, StoredMessage)) == ("plain", False)
    assert (message, message.message, message.values) == (MESSAGE, MESSAGE.message, MESSAGE.values)
    with speaking(Language.ZH):
        assert translate_stored(message) == "其他进程占用了 1.25 个核（共 2 个）：backup (7)，许多短暂运行的进程"


def test_the_column_holds_the_message_and_its_values(connection: sa.Connection) -> None:
    connection.execute(sa.insert(TABLE), {"words": [MESSAGE]})
    values = {"cpu": 1.254, "cores": 2, "who": ["backup (7)", {"message": SHORT.message, "values": {}}]}
    column = connection.scalar(sa.text("SELECT words FROM log"))
    assert json.loads(column) == [{"message": MESSAGE.message, "values": values}]


def test_messages_of_an_older_store_are_read_as_they_are(connection: sa.Connection) -> None:
    connection.execute(sa.text("""INSERT INTO log VALUES ('["the engine stalled", "{n} of it"]'), ('[]')"""))
    assert list(connection.scalars(sa.select(TABLE.c.words))) == [["the engine stalled", "{n} of it"], []]


@pytest.mark.parametrize(
    "column", ['{"message": "{n} of it"}', '{"message": "{n", "values": {}}', '{"values": {"n": 1}}']
)
def test_damaged_messages_are_read_as_far_as_possible(connection: sa.Connection, column: str) -> None:
    connection.execute(sa.insert(TABLE), {"words": ["x"]})
    connection.execute(sa.text("UPDATE log SET words = :column"), {"column": f"[{column}]"})
    (message,) = connection.scalar(sa.select(TABLE.c.words))
    assert message == json.loads(column).get("message", str(json.loads(column)))
