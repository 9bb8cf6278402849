"""Words in a column: with what they were made of, beside those of stores that have them as they are."""

import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from paribus.i18n import Language, StoredMessage, speaking, stored_message, translate_stored
from paribus.store.words import Words

TABLE = sa.Table("told", sa.MetaData(), sa.Column("words", Words))
SHORT = stored_message("many short-lived ones")
TOLD = stored_message(
    "other processes took {cpu:.2f} of {cores} cores: {who}", cpu=1.254, cores=2, who=["backup (7)", SHORT]
)


@pytest.fixture
def connection() -> Iterator[sa.Connection]:
    engine = sa.create_engine("sqlite://")
    TABLE.create(engine)
    with engine.connect() as opened:
        yield opened


def test_words_come_out_with_what_they_were_made_of(connection: sa.Connection) -> None:
    connection.execute(sa.insert(TABLE), {"words": ("plain", TOLD)})
    plain, words = connection.scalar(sa.select(TABLE.c.words))
    assert (plain, isinstance(plain, StoredMessage)) == ("plain", False)
    assert (words, words.message, words.values) == (TOLD, TOLD.message, TOLD.values)
    with speaking(Language.ZH):
        assert translate_stored(words) == "其他进程占用了 1.25 个核（共 2 个）：backup (7)，许多短暂运行的进程"


def test_what_is_kept_is_a_message_and_its_values(connection: sa.Connection) -> None:
    connection.execute(sa.insert(TABLE), {"words": [TOLD]})
    values = {"cpu": 1.254, "cores": 2, "who": ["backup (7)", {"message": SHORT.message, "values": {}}]}
    kept = connection.scalar(sa.text("SELECT words FROM told"))
    assert json.loads(kept) == [{"message": TOLD.message, "values": values}]


def test_words_of_an_older_store_are_read_as_they_are(connection: sa.Connection) -> None:
    connection.execute(sa.text("""INSERT INTO told VALUES ('["the engine stalled", "{n} of it"]'), ('[]')"""))
    assert list(connection.scalars(sa.select(TABLE.c.words))) == [["the engine stalled", "{n} of it"], []]


@pytest.mark.parametrize(
    "kept", ['{"message": "{n} of it"}', '{"message": "{n", "values": {}}', '{"values": {"n": 1}}']
)
def test_words_that_are_damaged_are_read_as_far_as_they_go(connection: sa.Connection, kept: str) -> None:
    connection.execute(sa.insert(TABLE), {"words": ["x"]})
    connection.execute(sa.text("UPDATE told SET words = :kept"), {"kept": f"[{kept}]"})
    (words,) = connection.scalar(sa.select(TABLE.c.words))
    assert words == json.loads(kept).get("message", str(json.loads(kept)))
