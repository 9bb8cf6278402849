"""A real MySQL server: experiments on it carried to their end, and TPC-C while it is killed.

The machine's own database is MariaDB, which is near MySQL and is not MySQL: other variables, another way of making
data. The server is Debian's from sid, run where it was unpacked.

    .venv/bin/python proof/databases/mysql.py
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import packages
from carrying_out import OLTP, report_of

PACKAGE = "mysql-server-core"
PLAN = """
name = "mysql"
[target]
path = "{path}"
[database]
kind = "mysql"
program = "{program}"
[database.settings]
innodb_buffer_pool_size = "64MiB"
[factors]
"mysql.innodb_flush_log_at_trx_commit" = {levels}
{load}
rounds = 2
margin = "50%"
placebo = false
"""
TPCC = """
[[event]]
at = "1s"
do = "kill-server"
[[workload]]
kind = "tpcc"
warehouses = 1
partitions = 2
threads = [8]
verify = true
[protocol]
trial = "4s"
settle = "1s"
"""


def experiment(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each comparison on this server, and its verdict."""
    for effect in report_of(folder / "oltp", PLAN, program=program, levels=[1, 2], load=OLTP)["effects"]:
        yield f"{effect['factor']}: {effect['baseline']} -> {effect['arm']}", effect["verdict"]


def crash(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """TPC-C on a server that is killed in each trial: the acknowledged orders that each level loses."""
    arms = report_of(folder / "tpcc", PLAN, program=program, levels=[1, 0], load=TPCC)["tpcc"]
    lost = {arm["arm"]: arm["lost"] for arm in arms}
    if lost["1"] or not lost["0"]:
        raise AssertionError(f"acknowledged New-Orders that were lost, by level: {lost}")
    for arm in arms:
        rate = f"{arm['new_orders_per_minute']['value']:,.0f} New-Orders a minute"
        yield f"{arm['factor']} = {arm['arm']}", f"{rate}, {arm['lost']:,} lost in {len(arm['trials'])} crashes"


def main() -> int:
    """Print what was found; 1 where there is no server to try."""
    with tempfile.TemporaryDirectory(prefix="paribus-mysql-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server's user must be able to pass
        try:
            program = packages.debian(folder / "package", "sid", PACKAGE)
        except packages.NotToBeHad as error:
            print(f"no {PACKAGE} to prove anything with: {error}", file=sys.stderr)
            return 1
        print(subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip())
        for proof in (experiment, crash):
            print(f"\n| {proof.__name__} | outcome |\n| --- | --- |")
            for asked, outcome in proof(program, folder):
                print(f"| {asked} | {outcome} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
