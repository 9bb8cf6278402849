"""Shares of one whole in prose: what is reserved and what is left."""

import pytest

from paribus.plausibility.text import wholes


def _words(statement: str) -> list[str]:
    return [breach.words for breach in wholes({"C1": statement})]


def test_a_share_that_is_left_contradicts_the_share_that_is_reserved() -> None:
    words = "reserved + usable = whole: 15 % reserved leave 85 % of the whole, but the text states 75 % [C1]"
    assert _words("RAID0 uses 100% of the space; with 15% reserved as OP only 75% of the total; RAID10 only 50%.") == [
        words
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "With 15% reserved only 85% of the total; RAID 10 only 50%.",
        "28% over-provisioning: 78% of the capacity",  # of the usable part, as vendors state it
        "7% OP leaves 93.5% usable",  # within the digits
        "15% reserved. 75% of the total is data.",
        "10% reserved or 20% reserved, 80% of the total",  # two cases
        "15% more with 75% of the total",
        "20.5% spare, 79.5% left",
        "12,5 % reserved for spare blocks, 87,5 % usable",
        "0 % reserved, 100 % usable",
        "100 % available with 7 % over-provisioned",
        "10-20 % reserved, 80-90 % available",
        "20 % reserved, about 78 % usable",
        "With 28 % OP, the drive was filled to 50 % of capacity",
        "We kept 10 % spare and used 45 % of the total memory",
        "10 % reserved capacity saved 30 % of total cost",
        "5 % reserved for root and was 60 % full, so 35 % is available",
        "20 % reserved for the OS, 20 % for caches, 60 % left",
        "30 % reserved instances, 99 % available",
        "The pool has 10% spare and CPU was 40% available",
        "CPU: 20% reserved for the hypervisor, 30% left idle",
        "5% reserved for root, leaving 80% available after the data set",
    ],
)
def test_statements_that_add_up_or_are_of_other_things_are_no_breach(statement: str) -> None:
    assert not _words(statement)


@pytest.mark.parametrize("statement", ["20% set aside, 70% usable", "12,5 % spare, leaving 95 % of capacity"])
def test_other_words_for_the_parts_are_understood(statement: str) -> None:
    assert len(_words(statement)) == 1
