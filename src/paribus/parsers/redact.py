"""Removal of passwords from command lines, settings, addresses and statements before anything is stored."""

import re

HIDDEN = "***"

# A value: quoted, or a word up to the next list item (`;UID=`), bracket or end of sentence.
_QUOTED = r"""'(?:[^'\\]|\\.|''){0,500}'|"(?:[^"\\]|\\.|""){0,500}"|\{[^{}]{0,500}\}"""
_WORD = r"""(?:(?![,;)\]}'"]{0,3}(?:\s|$)|[,;&]\w[\w.-]{0,40}=)\S)+"""
_VALUE = rf"(?P<value>{_QUOTED}|{_WORD})"
# Server settings whose names contain the word, and options that prompt for a password or disable it.
_OTHERS = "".join(f"(?<!{name}[_-])" for name in ("validate", "old", "native", "sha256", "sha2", "no", "ask"))
_KEY = rf"{_OTHERS}(?:passw(?:or)?d|passphrase|passwort|(?<=[_-])pass|superuserpass)"


def _after(sign: str, before: str, value: str = _VALUE) -> tuple[str, re.Pattern[str]]:
    """Return a pattern of a value after a prefix, and the text that a line must contain to be tried."""
    return sign, re.compile(rf"(?P<before>{before}){value}", re.IGNORECASE)


_PATTERNS = (
    # password=…, PGPASSWORD=…, "password": "…", mysql_pass = …; not the prompt or a server's message
    _after("pass", rf"(?<!enter ){_KEY}[\"'\]]{{0,2}}\s{{0,40}}(?:=>|:=|=|:)\s{{0,40}}"),
    _after("pass", r"\[pass\]:\s{0,40}|[\"']pass[\"']\s?:\s?|--pass[= ]"),
    # of a connection; the shell's PWD is a directory
    _after("pwd", r"[;?&]\s?pwd=|[,\"' ]pwd=(?!/)|(?<=[_-])pwd\s{0,9}[=:]\s{0,9}"),
    # --password …
    _after("pass", rf"(?:--|[\w-]-){_OTHERS}(?:password|passwd|pass)\s{{1,9}}(?!-|run\b|prepare\b|cleanup\b)"),
    # mysql://user:…@host, user:…@tcp(host), curl -u user:…
    _after("://", r"://[^\s:/@'\"]{0,80}:(?!\d{1,5}/)", r"(?P<value>(?:(?!://)[^\s'\"])+)(?=@)"),
    _after("@tcp", r"\b[\w.-]{1,80}:", r"(?P<value>[^\s:@/'\"]{1,200})(?=@tcp)"),
    _after("@unix", r"\b[\w.-]{1,80}:", r"(?P<value>[^\s:@/'\"]{1,200})(?=@unix)"),
    _after("curl", r"\bcurl\b[^|;]{0,400}?\s(?:-u|--user)[ =]?[\"']?[\w.-]{1,80}:"),
    # statements of PostgreSQL, MySQL and Db2
    _after(
        "identified", r"\bidentified\s{1,9}(?:with\s{1,9}\S{1,80}\s{1,9})?(?:by|as|using)\s{1,9}(?:password\s{1,9})?"
    ),
    _after("password", r"\bpassword\s{0,9}\(\s{0,9}", rf"(?P<value>{_QUOTED})"),
    _after("password", r"\bpassword\s{1,9}", r"(?P<value>'(?:[^'\\]|\\.|''){0,500}')"),
    _after(" using ", r"\bconnect\s{1,9}to\s{1,9}\S{1,80}\s{1,9}user\s{1,9}\S{1,80}\s{1,9}using\s{1,9}"),
    _after("sqlplus", r"\bsqlplus\s{1,9}(?:-\w\s{1,9})?[\w.]{1,80}/", r"(?P<value>[^\s@]{1,200})"),
    # user/…@service of Oracle's tools; neither a version of an action nor a digest follows
    _after(
        "@",
        r"(?<![\w/.~@-])[a-z][\w$#]{0,30}/",
        r"(?P<value>\"[^\"]{1,100}\"|[^\s/@:\"']{1,100})(?=@(?!v?\d|sha\d|master\b|main\b|latest\b)[/\w(])",
    ),
    _after("mysqladmin", r"\bmysqladmin(?:\s[^|;]{1,400}?)?\s(?:old-)?password\s{1,9}"),
    _after("-admin", r"-admin(?:\s[^|;]{1,400}?)?\s(?:old-)?password\s{1,9}"),
    # HammerDB
    _after("iset", r"\b[dg]iset\s{1,9}\S{1,80}\s{1,9}\S{0,80}pass(?:word)?\s{1,9}"),
    _after("pass", r"pass(?:word)?\s{1,9}from\s{1,9}"),
    _after("pass", r"pass(?:word)?\s{1,9}from\s{1,9}\*\*\*\s{1,9}to\s{1,9}"),
    _after("value ", r"\bvalue\s{1,9}", r"(?P<value>\S{1,200})(?=\s{1,9}for\s{1,9}\S{0,80}pass(?:word)?\s)"),
    _after("existing value", r"pass(?:word)?\s{1,9}is the same as existing value\s{1,9}", r"(?P<value>[^\s,]{1,200})"),
    # tpcc-mysql
    _after("option p ", r"\boption\s{1,9}p\s{1,9}with\s{1,9}value\s{1,9}"),
    _after("tpcc_", r"\btpcc_(?:start|load)(?:\s{1,9}(?!-)\S{1,200}){3}\s{1,9}(?!-)"),
    _after("tpcc_", r"\btpcc_(?:start|load)\s[^|;]{0,400}?\s(?-i:-p)\s{0,9}"),
    # tools that take the password as a separate argument
    _after("mongo", r"\bmongo\w{0,20}\s(?:[^|;]{0,400}?\s)?(?-i:-p)\s{0,9}"),
    _after("sshpass", r"\bsshpass\s{1,9}(?-i:-p)\s{0,9}"),
    _after("charbench", r"\bcharbench\s(?:[^|;]{0,400}?\s)?(?-i:-p)\s{0,9}"),
    _after("sqlcmd", r"\bsqlcmd\s(?:[^|;]{0,400}?\s)?(?-i:-P)\s{0,9}"),
    # properties of YCSB's databases: keys, tokens and credentials
    _after("-p ", r"\s-p\s{1,9}[\w.-]{0,60}(?:secret|key(?!s?\b|space)|token|cred|auth|\.pw)[\w.-]{0,40}="),
    _after("memtier", r"\bmemtier_benchmark\s(?:[^|;]{0,400}?\s)?(?-i:-a)\s{0,9}"),
    _after("memtier", r"\bmemtier_benchmark\s(?:[^|;]{0,400}?\s)?--authenticate[= ]\s{0,9}"),
    _after("rediscli_auth", r"\brediscli_auth="),
    _after("-benchmark", r"\b(?:redis|valkey)-benchmark\s(?:[^|;]{0,400}?\s)?(?-i:-a)\s{1,9}"),
    _after("-cli", r"\b(?:redis|valkey)-cli\s(?:[^|;]{0,400}?\s)?(?-i:-a)\s{1,9}"),
)
_BRACKETS = ("''", '""', "{}")
_SIGNS = tuple(dict.fromkeys(sign for sign, _ in _PATTERNS))
# -psecret of MySQL's programs only: elsewhere -p is a port or another option
_SHORT = re.compile(rf"(?P<before>(?:^|\s)-p)(?!\s|$){_VALUE}")
_MYSQL = ("mysql", "mariadb", "percona", "xtrabackup", "mariabackup", "innobackupex", "tpcc_start", "tpcc_load")
# Not secret: shell variables, server answers, empty values, and values already hidden.
_NO_SECRET = re.compile(
    r"""["'{]?(?:(?-i:\$\{?[A-Z_][A-Z0-9_]*\}?)|\$\(.*|<[\w -]+>|yes|no|true|false|null|none|\**|x{3,})["'}]?""",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return the text with `***` for every password; all other characters and line numbers are unchanged."""
    lowered = text.lower()
    signs = {sign for sign in _SIGNS if sign in lowered}
    if "-p" in lowered and any(name in lowered for name in _MYSQL):
        signs.add("-p")
    if not signs:
        return text
    patterns = [(sign, pattern) for sign, pattern in _PATTERNS if sign in signs]
    pieces, copied_to = [], 0
    of_mysql = continued = False
    for start, end in _spans(text, lowered, signs):
        line = text[start:end]
        low = line.lower()
        of_mysql = (continued and of_mysql) or any(name in low for name in _MYSQL)
        continued = line.rstrip().endswith("\\")
        for sign, pattern in patterns:
            if sign in low:
                line = pattern.sub(_replaced, line)
        pieces += [text[copied_to:start], _SHORT.sub(_replaced, line) if of_mysql else line]
        copied_to = end
    return "".join([*pieces, text[copied_to:]])


def _spans(text: str, lowered: str, signs: set[str]) -> list[tuple[int, int]]:
    """Return the spans of lines that contain a sign; of all lines if some continue the line before."""
    if len(lowered) != len(text) or "\\\n" in text or "\\\r\n" in text:
        signs, lowered = {""}, text
    spans = set()
    for sign in signs:
        position = lowered.find(sign)
        while position >= 0:
            start, end = lowered.rfind("\n", 0, position) + 1, lowered.find("\n", position)
            spans.add((start, end if end >= 0 else len(text)))
            position = lowered.find(sign, end + 1) if end >= 0 else -1
    return sorted(spans)


def _replaced(match: re.Match[str]) -> str:
    value = match["value"]
    if _NO_SECRET.fullmatch(value):
        return match[0]
    ends = (value[0], value[-1]) if len(value) > 1 and value[0] + value[-1] in _BRACKETS else ("", "")
    return f"{match['before']}{ends[0]}{HIDDEN}{ends[1]}"
