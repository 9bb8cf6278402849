"""Targets over SSH that are broken, noisy or hostile: one clear error, within bounds of time, memory and characters."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Done, run_paribus
from hostile_target import NAME, HostileTarget

from paribus.engine.find import binary
from paribus.engine.run import probe
from paribus.errors import BadReply, EngineError, HostError, JournalError, NotInspected
from paribus.hosts import bounded, engine_copy, file_agent, ssh, waiting
from paribus.hosts.ssh import SshHost
from paribus.knobs.journal import Journal
from paribus.knobs.journals import inspect

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

ENDLESS = "exec yes"
ENDLESS_LINE = "exec cat /dev/zero"
SILENT = "exec sleep 600"
CONTROL = r"printf '\033]0;owned\007\033[2J\233\n'"


@pytest.fixture
def connected(db1: HostileTarget) -> Iterator[Callable[..., SshHost]]:
    """Connect to the target, and disconnect when the test is over."""
    hosts = []

    def connect(**more: object) -> SshHost:
        hosts.append(SshHost(db1.address, binary(), **more))  # type: ignore[arg-type]
        return hosts[-1]

    yield connect
    for host in hosts:
        host.close()


def _undo(*more: str) -> Done:
    done = run_paribus("undo", "--target", f"ssh://{NAME}", *more)
    assert "Traceback" not in done.err
    return done


# --- size and time ---


@pytest.mark.parametrize("flood", [ENDLESS, ENDLESS_LINE, "cat /dev/zero >&2"])
@pytest.mark.parametrize("to", ["", "--dry-run"])
def test_endless_output_ends_with_an_error_that_names_the_target(
    db1: HostileTarget, flood: str, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ">&2" in flood:
        flood = f"timeout 2 {flood}; exit 1"
    db1.answer(flood, to=to)
    most = 1 << 30
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}));"
        "from paribus.cli.main import main; sys.argv = ['paribus', 'undo', '--target', 'ssh://db1']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 4, done.stderr
    assert NAME in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 10_000


def test_a_line_of_the_engine_has_a_limit(
    db1: HostileTarget, connected: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = connected()
    db1.answer(ENDLESS_LINE, to=" file-agent ")
    with pytest.raises(BadReply, match=f"ssh://{NAME} printed a line of more than 8 MiB"):
        host.read("/etc/hostname")
    db1.answer(ENDLESS_LINE, to=" journal ")
    with pytest.raises(JournalError, match=f"ssh://{NAME} printed a line of more than 8 MiB"):
        Journal(host, host.engine, "e1", [], volatile=True)


def test_lines_that_nobody_reads_fill_no_memory(db1: HostileTarget, connected: Callable[..., SshHost]) -> None:
    host = connected()
    db1.answer(ENDLESS, to=" sample ")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    process = host.start([host.engine, "sample"])
    with pytest.MonkeyPatch.context() as small:
        small.setattr(bounded, "_UNREAD_BYTES", 2**20)
        for _ in range(100_000):
            assert process.receive(10.0) == "y\n"
    process.close(0.1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("to", ["", "--version"])
def test_a_reply_that_does_not_come_is_reported_with_the_time_waited(
    db1: HostileTarget, connected: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    monkeypatch.setattr(engine_copy, "_FIND_S", 2.0)
    monkeypatch.setattr(ssh, "_PATIENCE_S", 2.0)
    db1.answer(SILENT, to=to)
    with pytest.raises(BadReply, match=rf"ssh://{NAME} did not end within 2 s") as caught:
        connected()
    assert f"ssh {NAME} true" in caught.value.todo


def test_an_answer_that_comes_late_is_not_taken_for_the_next(
    db1: HostileTarget, connected: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = connected()
    monkeypatch.setattr(file_agent, "_PATIENCE_S", 1.0)
    answer = """'{"event":"seen","texts":["late"]}'"""
    db1.answer(f"read line; sleep 3; echo {answer}; exec cat >/dev/null", to=" file-agent ")
    for _ in range(2):
        with pytest.raises(HostError, match="no answer for 1 s"):
            host.read("/etc/hostname")


def test_a_long_wait_is_reported(
    db1: HostileTarget, connected: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_EVERY_S", 0.5)
    heard: list[str] = []
    host = connected(report=heard.append)
    heard.clear()
    db1.answer("sleep 3; exit 0", to="id -u")
    assert host.run(["id", "-u"]).exit_code == 0
    assert heard
    assert all(words.startswith(f"waiting for id on ssh://{NAME}: ") for words in heard)
    heard.clear()
    db1.answer('sleep 3; exec sh -c "$SSH_ORIGINAL_COMMAND"', to=" file-agent ")
    host.read("/etc/hostname")
    assert any(f"file-agent on ssh://{NAME}" in words for words in heard)


# --- garbage ---

GARBAGE = [
    r"printf '\377\376\200\n'",
    "echo not JSON",
    "echo 1",
    "echo null",
    "echo '[]'",
    "echo '{}'",
    """echo '{"event": 5}'""",
    """echo '{"event": "error", "message": 7}'""",
    """echo '{"event": "open-journal", "experiment": null}'""",
    """echo '{"event": "seen", "texts": 3}'""",
    """echo '{"event": "seen", "texts": []}'""",
    """echo '{"event": "unseen", "errno": "x", "reason": []}'""",
    """echo '{"event": "stuck"}'""",
    """echo '{"event": "restored", "knob": "a"}'""",
    "head -c 200000 /dev/zero | tr '\\0' '['",
    "exit 0",
    "exit 3",
    "kill -9 $$",
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_of_a_target_is_an_error(db1: HostileTarget, connected: Callable[..., SshHost], garbage: str) -> None:
    """Any other exception would reach the user as a traceback."""
    host = connected()
    db1.answer(f"{garbage}\nexit", to=" file-agent ")
    with pytest.raises(HostError):
        host.read("/etc/hostname")
    with pytest.raises(HostError):
        host.read_each(["/a", "/b"])
    db1.answer(f"{garbage}\nexit", to=" journal ")
    with pytest.raises((JournalError, HostError)):
        Journal(host, host.engine, "e1", [], volatile=True)
    db1.answer(f"{garbage}\nexit", to=" probe ")
    with pytest.raises((EngineError, HostError)):
        probe(host, host.engine, "/")
    db1.answer(f"{garbage}\nexit", to=" undo ")
    with pytest.raises((HostError, NotInspected)):
        inspect(host, host.engine)
    db1.answer(f"{garbage}\nexit")
    with pytest.raises(HostError):
        connected()


def test_a_target_that_lies_about_its_files_leaves_no_traceback(db1: HostileTarget, plan: Callable[..., str]) -> None:
    path = plan(target=f'host = "{db1.address}"', factors='"vm.swappiness" = [1, 60]')
    for text in ("", "\\u001b[2J\\u0000", "a b c\\n- - -\\n", "999999999999999999999", "0-", "1 - 2"):
        answer = f"""'{{"event":"seen","texts":["{text}"]}}'"""
        db1.answer(f"while read line; do printf '%s\\n' {answer}; done; exit", to=" file-agent ")
        done = run_paribus("check", path)
        assert "Traceback" not in done.err, done.err
        assert "\x1b" not in done.err + done.out
        done = run_paribus("doctor", db1.address)
        assert "Traceback" not in done.err, done.err


@pytest.mark.parametrize("lie", ["[1, {", "{}", '{"blockdevices": 5}', '{"blockdevices": [{}]}', "[" * 100_000])
def test_tools_of_a_target_that_lie_leave_no_traceback(
    db1: HostileTarget, plan: Callable[..., str], loop: str, lie: str
) -> None:
    (db1.folder / "lie").write_text(lie)
    db1.answer(f"cat {db1.folder}/lie; exit", to=" --json")
    target = f'host = "{db1.address}"\ndevice = "{loop}"\nmay_destroy = ["{loop}"]'
    path = Path(plan(target=target, factors='"fileio.threads_per_file" = [1]'))
    path.write_text(path.read_text().replace('total_size = "1MiB"', f'device = "{loop}"'))
    for arguments in (["check", str(path)], ["doctor", db1.address]):
        done = run_paribus(*arguments)
        assert "Traceback" not in done.err, done.err
        assert len(done.err) < 10_000


@pytest.mark.parametrize(
    "address",
    [
        "ssh://h:99999",
        "ssh://h:0",
        "ssh://h:abc",
        "ssh://h:",
        "ssh://",
        "ssh://@h",
        "ssh://-oProxyCommand=x",
        "ssh://-oProxyCommand=x@h",
        "ssh://a b",
        "ssh://a\nb",
        "ssh://[::1",
        "ssh://u:p@h",
        "ssh://$(id)",
        "ssh://h/path",
        "",
    ],
)
def test_an_address_that_is_none_is_bad_input(address: str, plan: Callable[..., str]) -> None:
    for arguments in (["undo", "--target", address], ["status", "--target", address], ["doctor", address]):
        done = run_paribus(*arguments)
        assert done.code == 2, done.err
        assert "Traceback" not in done.err
        assert repr(address) in done.err


# --- characters ---


def test_control_characters_of_a_target_are_made_visible(db1: HostileTarget) -> None:
    db1.answer(f"{CONTROL} >&2; exit 1", to="--version")
    done = _undo()
    assert done.code == 4
    assert r"\x1b]0;owned\x07\x1b[2J" in done.err
    change = r'{"knob":"a","address":"b","before":"\u001b[3J","wanted":"\u009b2J","expired":false}'
    journal = (
        '{"event":"open-journal","experiment":"e\\u001b[1m","path":"p\\u202e","owned":false,"kept":false,'
        f'"time":"t","trouble":null,"changes":[{change}]}}'
    )
    looked = '{"event":"looked","directory":"j","others":null,"elsewhere":[],"running_elsewhere":[]}'
    db1.answer(f"cat <<'END'\n{looked}\n{journal}\nEND\nexit 0", to=" undo ")
    for arguments in (["status"], ["undo", "--dry-run"], ["status", "--json"], ["undo", "--dry-run", "--json"]):
        done = run_paribus(*arguments, "--target", db1.address)
        assert done.code == 0, done.err
        assert not {"\x1b", "\x9b", "\u202e"} & set(done.out + done.err)
        if "--json" in arguments:
            assert "\x1b[3J" in str(done.json) or "\\x1b[3J" in str(done.json)
        else:
            assert r"\x1b[3J" in done.out
