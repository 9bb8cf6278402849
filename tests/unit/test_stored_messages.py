"""Words that are kept: English wherever they are joined or exported, and said again in the language that is spoken."""

import copy
import json
from collections.abc import Callable, Iterator

import pytest

from paribus.i18n import Language, StoredMessage, gettext, speaking, stored_message, translate_stored

WHO = ["backup (7)", stored_message("many short-lived processes")]
SAID = stored_message("other processes took {cpu:.2f} of {cores} cores: {who}", cpu=1.254, cores=2, who=WHO)
LOST = stored_message(
    "{why}; it was reached again and the experiment continued",
    why=stored_message("the connection to {target} was lost: {words}", target="db1", words="Broken pipe"),
)


@pytest.fixture
def chinese() -> Iterator[None]:
    with speaking(Language.ZH):
        yield


@pytest.mark.usefixtures("chinese")
def test_recorded_words_are_english_whatever_is_spoken() -> None:
    assert SAID == "other processes took 1.25 of 2 cores: backup (7), many short-lived processes"
    assert stored_message("many short-lived processes") == "many short-lived processes"
    assert "; ".join([SAID, "x"]).endswith("short-lived processes; x")
    assert json.loads(json.dumps([SAID])) == [str(SAID)]


@pytest.mark.usefixtures("chinese")
def test_they_are_said_in_the_language_that_is_spoken() -> None:
    assert translate_stored(SAID) == "其他进程占用了 1.25 个核（共 2 个）：backup (7)，许多短暂运行的进程"
    assert translate_stored(LOST) == "与 db1 的连接中断：Broken pipe；重新连上之后继续进行"


def test_in_english_they_are_said_as_they_were_recorded() -> None:
    assert [translate_stored(SAID), translate_stored(LOST)] == [SAID, LOST]


@pytest.mark.usefixtures("chinese")
def test_words_of_others_are_shown_as_they_are() -> None:
    assert translate_stored("many short-lived processes") == "many short-lived processes"
    assert gettext("many short-lived processes") != "many short-lived processes"
    assert translate_stored(stored_message("a sentence of a later version, with {n} of something", n=3)).endswith(
        "3 of something"
    )
    assert translate_stored(stored_message("{not a placeholder}")) == "{not a placeholder}"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_a_copy_remembers_as_much(again: Callable[[StoredMessage], StoredMessage]) -> None:
    one = again(LOST)
    assert (one, one.message, one.values) == (LOST, LOST.message, LOST.values)
    assert isinstance(one.values["why"], StoredMessage)
