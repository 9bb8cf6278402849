"""MySQLTuner and `paribus audit` on the same server: which variables each of them names.

The script of MySQLTuner is downloaded by the user, from mysqltuner.pl. Run as root, with MariaDB installed:
`MYSQL_PWD=tuner .venv-dev/bin/python bench/audit/mysqltuner.py mysqltuner.pl`.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from paribus.audit import AdviceStatus
from paribus.databases import Instance
from paribus.engine.find import binary
from paribus.hosts.local import LocalHost
from paribus.lab.audit.auditing import AuditDocument, audit

PLANTED = {
    "default": (),
    "planted": (
        "SET GLOBAL max_heap_table_size = 1048576",
        "SET GLOBAL innodb_adaptive_hash_index = ON",
        "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
        "SET GLOBAL long_query_time = 60",
        "SET GLOBAL thread_cache_size = 0",
        "SET GLOBAL max_connections = 20000",
        "SET GLOBAL slow_query_log = ON",
    ),
}
USER = ("CREATE USER tuner@localhost IDENTIFIED BY 'tuner'", "GRANT ALL ON *.* TO tuner@localhost")
TITLES = "| variable | MySQLTuner | its rule here | other sources here |"
SOURCE = "mysqltuner-2-9"
SAYS = (AdviceStatus.DIFFERS, AdviceStatus.UNSPECIFIC)


def main() -> None:
    """Compare both on a default server and on one with planted settings."""
    script = Path(sys.argv[1]).absolute()
    for title, statements in PLANTED.items():
        folder = Path(tempfile.mkdtemp(prefix="paribus-bench-", dir="/var/tmp"))
        folder.chmod(0o755)
        instance = Instance(LocalHost(), binary(), str(folder / "db"), "mariadb")
        instance.create()
        try:
            instance.start()
            for statement in (
                "CREATE USER tuner@localhost IDENTIFIED BY 'tuner'",
                "GRANT ALL ON *.* TO tuner@localhost",
            ):
                instance.query(statement)
            for statement in statements:
                instance.query(statement)
            _compare(title, script, str(instance.address().socket), folder)
        finally:
            instance.remove()


def _compare(title: str, script: Path, socket: str, folder: Path) -> None:
    tuner = _of_tuner(script, socket, folder)
    document = audit("local", str(folder), database=f"mysql://tuner@localhost/?socket={socket}")
    ours = _of_rules(document)
    others = _of_others(document)
    print(f"\n{title}: {document.server}\n\n{TITLES}\n{'|---' * 4}|")
    for name in sorted(tuner.keys() | ours.keys()):
        print(f"| {name} | {tuner.get(name, '')} | {ours.get(name, '')} | {others.get(name, '')} |")
    sys.stdout.flush()


def _of_tuner(script: Path, socket: str, folder: Path) -> dict[str, str]:
    """The variables under its last heading, with its words."""
    (folder / ".my.cnf").write_text("[client]\nprotocol=socket\n")
    login = ["--socket", socket, "--user", "tuner", "--pass", "tuner"]
    output = subprocess.run(
        ["perl", script, *login, "--nocolor", "--nogood", "--verbose"],
        env={"HOME": str(folder), "PATH": "/usr/bin:/usr/sbin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    _, heading, adjusted = output.partition("Variables to adjust:")
    if not heading:
        sys.exit(f"MySQLTuner has no recommendations:\n{output[-2000:]}")
    rows = re.findall(r"^\s+((?:[a-z_]+|[a-z]+\.[a-z._-]+))\b(.*)$", adjusted, re.MULTILINE)
    return {name: text.strip(" ()=").replace("|", "/") for name, text in rows}


def _of_rules(document: AuditDocument) -> dict[str, str]:
    items = [(each.advice, item) for each in document.settings for item in each.advice.items if item.source == SOURCE]
    return {
        advice.setting.removeprefix("mysql."): f"{item.advised} (now {advice.now})"
        for advice, item in items
        if item.status in SAYS
    }


def _of_others(document: AuditDocument) -> dict[str, str]:
    return {
        each.advice.setting.removeprefix("mysql."): "; ".join(
            dict.fromkeys(f"{item.advised}: {item.status}" for item in each.advice.items if item.source != SOURCE)
        )
        for each in document.settings
    }


if __name__ == "__main__":
    main()
