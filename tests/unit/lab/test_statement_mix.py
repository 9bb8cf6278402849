"""Workloads of recorded statements: which column a literal belongs to, what is left out, and the shares."""

from collections import Counter

import pytest

from paribus.errors import QueryRefused, UsageError
from paribus.lab.statement_mix.dialect import MYSQL
from paribus.lab.statement_mix.marks import NotExpressible
from paribus.lab.statement_mix.mix import statement_mix
from paribus.lab.statement_mix.placeholders import MappedStatement, mapped
from paribus.lab.statement_mix.table_shape import ColumnShape, IndexShape, TableShape, counters
from paribus.parsers.statements.digest import StatementDigest, StatementRecord
from paribus.parsers.statements.literals import without_literals
from paribus.workloads.sqlmix import SqlmixParameters

ID = ColumnShape(name="id", type="int(11)", low=1, high=1000, automatic=True, nullable=False, large_type="bigint")
EMAIL = ColumnShape(
    name="email", type="varchar(60)", low=1, high=1000, longest=60, expression="RPAD({}, 24, 'x')".format
)
AMOUNT = ColumnShape(name="amount", type="decimal(10,2)", low=0.5, high=99.5, whole=False)
CREATED = ColumnShape(
    name="created", type="datetime", low=0, high=9999, expression="TIMESTAMPADD(SECOND, {}, '2026-01-01')".format
)
NOTE = ColumnShape(name="note", type="text", low=1, high=1000, letters=80)
CODE = ColumnShape(name="code", type="char(3)", low=1, high=900, longest=3, expression="RPAD({}, 3, 'x')".format)
ACCOUNT = TableShape(
    database="shop",
    name="account",
    rows=1000,
    columns=(ID, EMAIL, AMOUNT, CREATED, NOTE, CODE),
    indexes=(
        IndexShape("PRIMARY", ("id",), ("`id`",), unique=True, primary=True),
        IndexShape("email", ("email",), ("`email`",), unique=True),
        IndexShape("code", ("code",), ("`code`",), unique=True),
    ),
)
LINE_KEY = IndexShape("PRIMARY", ("account", "number"), ("`account`", "`number`"), unique=True, primary=True)
LINE = TableShape(
    database="shop",
    name="line",
    rows=5000,
    columns=(
        ColumnShape(name="account", type="int", low=1, high=1000, large_type="bigint"),
        ColumnShape(name="number", type="int", low=0, high=9, large_type="bigint"),
    ),
    indexes=(LINE_KEY,),
    counters=counters([LINE_KEY], {"account": 1000, "number": 5}, 5000, 5000),
)
OTHER = TableShape(database="archive", name="line", rows=10, columns=LINE.columns)


class Tables:
    """Tables of two databases; one may not be read."""

    dialect = MYSQL
    functions = frozenset({"price_of"})

    def databases(self, name: str) -> list[str]:
        return (
            ["shop"]
            if name == "secrets"
            else [shape.database for shape in (ACCOUNT, LINE, OTHER) if shape.name == name]
        )

    def shape(self, database: str, name: str) -> TableShape:
        if name == "secrets":
            raise QueryRefused("denied", "1142", "SELECT command denied")
        return next(shape for shape in (ACCOUNT, LINE, OTHER) if (shape.database, shape.name) == (database, name))


def _digest(*statements: str, rows: int = 0, seconds: float = 1.0, database: str = "shop") -> StatementDigest:
    digest = StatementDigest(database)
    for statement in statements:
        sql, numbers = without_literals(statement)
        digest.add(sql, calls=1, seconds=seconds, rows=rows, numbers=numbers)
    return digest


def _mapped(*statements: str, rows: int = 0, database: str = "shop") -> MappedStatement:
    return mapped(_digest(*statements, rows=rows, database=database), Tables())


@pytest.mark.parametrize(
    ("statement", "sql", "arguments"),
    [
        ("SELECT amount FROM account WHERE id = 5", "id = ?", [{"int": [1, 1000]}]),
        ("SELECT amount FROM shop.account a WHERE a.id = -5", "FROM account a WHERE a.id = ?", [{"int": [1, 1000]}]),
        (
            "SELECT `shop` . account.id FROM `shop`.account LOCK IN SHARE MODE",
            "SELECT account.id FROM account LOCK IN",
            [],
        ),
        ("UPDATE account SET amount = amount + -3", "amount + -3", []),
        ("DELETE a FROM account a JOIN line l ON l.account = a.id", "DELETE a FROM account a JOIN line l", []),
        ("SELECT COUNT(*) n FROM account GROUP BY amount HAVING n > 3", "HAVING n > 3", []),
        ("SELECT id FROM account WHERE 'x@y' = email", "RPAD(?, 24, 'x') = email", [{"int": [1, 1000]}]),
        ("SELECT id FROM account WHERE id IN (1, 2)", "id IN (?, ?)", [{"int": [1, 1000]}] * 2),
        (
            "SELECT id FROM account WHERE (id, amount) IN ((1, 2))",
            "((?, ?))",
            [{"int": [1, 1000]}, {"float": [0.5, 99.5]}],
        ),
        ("UPDATE account SET amount = amount + 3 WHERE id = 1", "amount + 3 WHERE id = ?", [{"int": [1, 1000]}]),
        (
            "UPDATE account SET note = 'secret' WHERE id = 1",
            "note = ? WHERE id = ?",
            [{"text": [80, 80]}, {"int": [1, 1000]}],
        ),
        ("SELECT id FROM account ORDER BY id LIMIT 20, 10", "LIMIT 20, 10", []),
        (
            "SELECT l.number FROM account a JOIN line l ON l.account = a.id WHERE email = 'x' AND number = 3",
            "email = RPAD(?, 24, 'x') AND number = ?",
            [{"int": [1, 1000]}, {"int": [0, 4]}],
        ),
        (
            "INSERT INTO account (email, note) VALUES ('x', 'y')",
            "(RPAD(?, 24, 'x'), ?)",
            [{"sequence": 1001}, {"text": [80, 80]}],
        ),
        (
            "INSERT INTO line VALUES (1, 2)",
            "INSERT INTO line VALUES (?, ?)",
            [{"int": [1, 1000]}, {"sequence": 5000}],
        ),
        ("INSERT INTO line VALUES (1, NULL)", "INSERT IGNORE INTO line VALUES (?, NULL)", [{"int": [1, 1000]}]),
        ("INSERT IGNORE INTO line VALUES (1, 2)", "INSERT IGNORE INTO", [{"int": [1, 1000]}, {"int": [0, 4]}]),
        (
            "INSERT INTO account (id, amount) VALUES (1, 2) ON DUPLICATE KEY UPDATE amount = amount + 1",
            "INSERT INTO account (id, amount) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = amount + 1",
            [{"int": [1, 1000]}, {"float": [0.5, 99.5]}],
        ),
        ("REPLACE INTO line (account) VALUES (1)", "REPLACE", [{"int": [1, 1000]}]),
    ],
)
def test_a_literal_is_drawn_from_the_range_of_its_column(statement: str, sql: str, arguments: list[object]) -> None:
    result = _mapped(statement)
    assert sql in result.sql
    assert result.arguments == arguments


def test_a_range_is_as_wide_as_in_the_log() -> None:
    result = _mapped(
        "SELECT id FROM account WHERE id BETWEEN 100 AND 149", "SELECT id FROM account WHERE id BETWEEN 3 AND 52"
    )
    assert "id BETWEEN ? AND ? + 49" in result.sql
    assert result.arguments == [{"int": [1, 951]}, {"same": 1}]
    result = _mapped("SELECT id FROM account WHERE id < 150 AND id >= 100")
    assert "id < ? AND id >= ? - 50" in result.sql
    assert result.arguments == [{"int": [51, 1000]}, {"same": 1}]


def test_a_range_of_a_text_or_time_is_as_wide_as_the_rows_that_were_read() -> None:
    result = _mapped("SELECT id FROM account WHERE created BETWEEN '2026-01-01' AND '2026-01-02'", rows=10)
    assert result.arguments == [{"int": [0, 9900]}, {"same": 1}]
    result = _mapped("DELETE FROM account WHERE created < '2026-01-02'", rows=10)
    assert result.arguments == [{"int": [0, 200]}]
    assert "near an end" in result.notes[0]


def test_a_range_beside_a_lookup_is_not_near_an_end() -> None:
    result = _mapped("SELECT id FROM account WHERE email = 'x' AND created > '2026-01-02'", rows=1)
    assert result.arguments == [{"int": [1, 1000]}, {"int": [0, 9999]}]
    assert not result.notes
    result = _mapped(
        "SELECT 1 FROM account WHERE email = 'x' AND created BETWEEN '2026-01-02' AND '2026-01-03'", rows=1
    )
    assert result.arguments == [{"int": [1, 1000]}, {"int": [0, 4999]}, {"same": 2}]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("COMMIT", "COMMIT, which is no SELECT"),
        ("CREATE TABLE a (b INT)", "CREATE"),
        ("LOAD DATA INFILE 'x' INTO TABLE a", "LOAD"),
        ("CALL p(1)", "CALL"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELECT a FROM account WHERE (", "cut off"),
        ("SELECT a FROM nowhere WHERE b = 1", "no table nowhere"),
        ("SELECT a FROM elsewhere.account WHERE b = 1", "no table elsewhere.account"),
        ("SELECT id FROM secrets", r"table secrets, which the user of --database may not read \(1142\)"),
        ("SELECT id FROM account WHERE absent = 1", "no column absent"),
        ("SELECT CONCAT(email, 'secret') FROM account", "a text"),
        ("SELECT id FROM account WHERE UPPER(email) = 'secret'", "a text"),
        ("INSERT INTO account (code) VALUES ('abc')", "account.code, which are unique"),
        ("SELECT id INTO @a FROM account WHERE id = 1", "INTO"),
        ("UPDATE account SET email = 'x' WHERE id = 5", "an UPDATE of account.email, whose values are unique"),
        ("SELECT id FROM account WHERE created > '2026-01-01' - INTERVAL 5 DAY", "a text"),
        ("SELECT id FROM account WHERE amount = '5' * 3", "a text"),
        ("SELECT id FROM account WHERE ABS(amount) = 4111111111111111", "an expression is compared with"),
        ("SELECT id FROM account PARTITION (p0) WHERE id = 1", "PARTITION of table account"),
        ("SELECT 1 FROM archive.line, shop.line", "two tables of the name line"),
        ("SELECT price_of(id) FROM account", "function price_of of this server"),
        ("", "no statement"),
    ],
)
def test_statements_that_are_left_out_have_a_reason(statement: str, reason: str) -> None:
    with pytest.raises(NotExpressible, match=reason):
        _mapped(statement)


def test_text_beside_a_name_is_no_number() -> None:
    with pytest.raises(NotExpressible, match="a text in an expression or function"):
        _mapped("SELECT 'x'alias FROM account WHERE id = 7")
    assert "SELECT 5 alias" in _mapped("SELECT 5 alias FROM account WHERE id = 7").sql


def test_a_table_of_several_databases_needs_the_database() -> None:
    with pytest.raises(NotExpressible, match="several databases: archive, shop"):
        _mapped("SELECT number FROM line WHERE account = 1", database="")
    assert _mapped("SELECT number FROM line WHERE account = 1", database="archive").tables == [OTHER]


def test_the_rows_of_a_key_of_several_columns_are_all_different() -> None:
    rows = MYSQL.rows(LINE)
    assert "VALUES (1 + (? DIV 5) % 1000, ? % 5)" in rows["insert"]
    keys = {(1 + (row // 5) % 1000, row % 5) for row in range(5000)}
    assert len(keys) == 5000
    index = IndexShape("k", ("a", "b", "c"), ("a", "b", "c"), unique=True)
    of_three = counters([index], {"a": 2, "b": 10, "c": 50}, 1000, 100_000)
    values = {tuple(row // of_three[name].divisor % of_three[name].modulus for name in "abc") for row in range(100_000)}
    assert len(values) == 100_000


def _record(*digests: StatementDigest) -> StatementRecord:
    return StatementRecord("slow query log", "mysql", digests, Counter())


def test_weights_are_the_shares_of_calls_and_the_plan_is_valid() -> None:
    record = _record(
        _digest(*["SELECT amount FROM account WHERE id = 5"] * 6),
        _digest(*["INSERT INTO account (id, email) VALUES (5, 'secret')"] * 3),
        _digest("SELECT CONCAT(email, 'secret') FROM account"),
        _digest(*["COMMIT"] * 4),
    )
    mix = statement_mix(record, Tables(), "slow.log")
    parameters = SqlmixParameters.model_validate(mix.workload)
    assert [each.weight for each in parameters.transactions] == [66.67, 33.33]
    assert "`id` bigint NOT NULL AUTO_INCREMENT" in parameters.schema_[0]
    assert [rows.count for rows in parameters.rows] == [1000]
    assert "90.0% of its 10 calls" in mix.notes[0]
    assert "4 calls: BEGIN, COMMIT" in mix.notes[1] and "1 calls: a text" in mix.notes[1]
    assert any("4 COMMIT and ROLLBACK ended transactions with 3 writing statements" in note for note in mix.notes)
    assert "secret" not in repr(mix)


def test_tables_of_one_name_in_two_databases_are_not_mixed() -> None:
    digests = [
        _digest(*["SELECT number FROM line WHERE account = 1"] * 2),
        _digest("SELECT account FROM line WHERE number = 1", database="archive"),
    ]
    mix = statement_mix(_record(*digests), Tables(), "slow.log")
    assert len(mix.workload["transactions"]) == 1
    assert "table line of archive: shop has one of that name too" in mix.notes[1]


def test_a_log_without_a_usable_statement_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"slow\.log holds no statement"):
        statement_mix(_record(), Tables(), "slow.log")
    with pytest.raises(UsageError, match=r"no statement of slow\.log can be used: 1 calls: no table nowhere"):
        statement_mix(_record(_digest("SELECT a FROM nowhere")), Tables(), "slow.log")


@pytest.mark.parametrize(
    "sql", ["SELECT id FROM account WHERE email = 'secret'", "SELECT id FROM account LIMIT $a$x$a$"]
)
def test_a_statement_whose_text_the_source_did_not_replace_is_left_out(sql: str) -> None:
    digest = StatementDigest("shop")
    digest.add(sql, calls=1, seconds=1, rows=1)
    with pytest.raises(NotExpressible):
        mapped(digest, Tables())


def test_notes_have_no_control_characters() -> None:
    mix = statement_mix(_record(_digest("SELECT amount FROM account WHERE id = 5")), Tables(), "a\nb\x1b.log")
    assert all(note.isprintable() for note in mix.notes)
    assert "a?b?.log" in mix.notes[0]
