"""The clients: each carries out a load for some seconds, and tells what it did and what it took."""

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers import DATABASE, Server

from paribus.engine.find import binary
from paribus.engine.protocol import Job, Load, OltpJob

_SYSBENCH_P95 = re.compile(r"95th percentile:\s+([0-9.]+)")
_SYSBENCH_QUERIES = re.compile(r"queries:\s+[0-9]+\s+\(([0-9.]+) per sec")
_PGBENCH_TPS = re.compile(r"tps = ([0-9.]+)")


@dataclass(frozen=True)
class Ran:
    """One run: statements a second, microseconds of processor time each, and the 95th percentile of response times."""

    statements_per_s: float
    cpu_us: float
    p95_ms: float
    memory_bytes: int


@dataclass(frozen=True)
class _Ended:
    out: str
    cpu_s: float
    memory_bytes: int


def run_program(argv: list[str]) -> _Ended:
    """A program to its end, with what it and nobody else used."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(argv, stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        out = said.read()
    if process.returncode != 0:
        raise SystemExit(f"{argv[0]} failed: {out[-2000:]}")
    return _Ended(out, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


# --- ours ---


def _ours(
    server: Server, mix: str, connections: int, rows: int, phase: str, seconds: float | None, tables: int = 1
) -> list[Any]:
    job = Job(
        phase=phase,  # type: ignore[arg-type]
        workload=OltpJob(database=server.address, mix=mix, tables=tables, table_size=rows),  # type: ignore[arg-type]
        load=Load(outstanding=connections),
        measure_s=seconds,
    )
    return run_job(job)


def run_job(job: Job) -> list[Any]:
    """The events of the engine for a job, and what it used."""
    process = subprocess.Popen([binary(), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    process.stdin.write(job.model_dump_json() + "\n")
    process.stdin.flush()  # it stays open: its end would end the load
    events = [json.loads(line) for line in process.stdout]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdin.close()
    if process.returncode != 0:
        raise SystemExit(f"the engine failed: {events[-1]}")
    return [*events, used]


def ours(server: Server, mix: str, connections: int, seconds: int, rows: int) -> Ran:
    """The engine, by a job on its stdin."""
    *events, used = _ours(server, mix, connections, rows, "run", seconds)
    result = next(event for event in events if event["event"] == "result")
    made_of = result["statements"]
    statements = sum(made_of[f"{kind}_queries"] for kind in ("read", "write", "other"))
    return Ran(
        statements_per_s=statements / result["duration_s"],
        cpu_us=(used.ru_utime + used.ru_stime) / statements * 1e6,
        p95_ms=result["response"]["p95_s"] * 1e3,
        memory_bytes=used.ru_maxrss * 1024,
    )


def ours_prepares(server: Server, rows: int, tables: int = 1, *, anew: bool = False) -> float:
    """Seconds of making the tables; where they are there already and need not be made anew, they are kept."""
    if anew:
        server.instance.query(f"DROP DATABASE {DATABASE}")
        server.instance.query(f"CREATE DATABASE {DATABASE}")
    began = time.monotonic()
    _ours(server, "read_write", 1, rows, "prepare", None, tables)
    return time.monotonic() - began


# --- sysbench ---


def _sysbench(server: Server, *arguments: str) -> _Ended:
    options = [f"--mysql-socket={server.address.socket}", "--mysql-user=root", f"--mysql-db={DATABASE}"]
    return run_program(["sysbench", *options, *arguments])


def sysbench(server: Server, mix: str, connections: int, seconds: int, rows: int) -> Ran:
    """sysbench 1.0, with the same tables and as many threads."""
    load = [f"--threads={connections}", f"--time={seconds}", f"--table-size={rows}"]
    ended = _sysbench(server, *load, f"oltp_{mix}", "run")
    found, p95 = _SYSBENCH_QUERIES.search(ended.out), _SYSBENCH_P95.search(ended.out)
    assert found and p95, ended.out
    rate = float(found[1])
    return Ran(rate, ended.cpu_s / (rate * seconds) * 1e6, float(p95[1]), ended.memory_bytes)


def sysbench_prepares(server: Server, rows: int, tables: int = 1) -> float:
    """Seconds of making the tables by sysbench, with a thread for each core."""
    server.instance.query(f"DROP DATABASE {DATABASE}")
    server.instance.query(f"CREATE DATABASE {DATABASE}")
    began = time.monotonic()
    sizes = [f"--table-size={rows}", f"--tables={tables}", f"--threads={os.cpu_count()}"]
    _sysbench(server, *sizes, "oltp_read_write", "prepare")
    return time.monotonic() - began


# --- pgbench ---


def _pg(server: Server, *arguments: str) -> _Ended:
    socket = Path(server.address.socket or "")
    port = socket.name.rpartition(".")[2]
    where = ["--host", str(socket.parent), "--port", port, "--username", server.address.user]
    return run_program([_program(server), *where, *arguments, DATABASE])


def _program(server: Server) -> str:
    beside = Path(server.instance.program.path).resolve().parent / "pgbench"
    return str(beside) if beside.exists() else "pgbench"


def pgbench_prepares(server: Server, rows: int) -> None:
    """pgbench's own tables, as many rows."""
    _pg(server, "--initialize", "--quiet", f"--scale={max(rows // 100_000, 1)}")


def pgbench(server: Server, mix: str, connections: int, seconds: int, rows: int) -> Ran:  # noqa: ARG001  its own rows
    """pgbench -S: a point select of a row as small, prepared."""
    assert mix == "point_select"
    load = ["--select-only", "--protocol=prepared", "--no-vacuum", f"--client={connections}", "--jobs=2"]
    with tempfile.TemporaryDirectory() as folder:
        logs = ["--log", f"--log-prefix={folder}/log", "--sampling-rate=0.05"]
        ended = _pg(server, *load, *logs, f"--time={seconds}")
        times = sorted(int(line.split()[2]) for log in Path(folder).iterdir() for line in log.read_text().splitlines())
    found = _PGBENCH_TPS.search(ended.out)
    assert found, ended.out
    rate = float(found[1])
    return Ran(rate, ended.cpu_s / (rate * seconds) * 1e6, times[int(0.95 * len(times))] / 1e3, ended.memory_bytes)
