"""The engine's tests under Miri, AddressSanitizer and ThreadSanitizer.

Each checker must first find faults that were planted, so that its silence says something. Miri interprets the unit
tests of memory and of what threads share, since it knows few system calls and takes a thousand times as long; the
sanitizers run all tests, with the engine's binary built as they are.

    .venv/bin/python proof/sanitizers/run.py [miri|address|thread ...]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PLANTED = Path(__file__).parent / "planted/Cargo.toml"
INSTALL = "rustup toolchain install nightly --profile minimal --component miri --component rust-src"

CHECKERS = {
    "miri": {"overflow": "Undefined Behavior", "race": "Data race detected"},
    "address": {"overflow": "AddressSanitizer: heap-buffer-overflow"},
    "thread": {"race": "ThreadSanitizer: data race"},
}
INTERPRETED = ("input", "io::buffer", "io::memory", "record", "verified::ledger", "verified::block")
MEASURED = "measured"  # times, which sanitizers change, and valgrind, which knows no sanitizers


def cargo(checker: str, verb: str, manifest: Path, words: list[str], reports: str) -> subprocess.CompletedProcess[str]:
    """Runs cargo with all it builds under the checker; what the checker finds goes to files that begin with `reports`,
    or to stderr when that is empty."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "artefacts/sanitizers" / checker)}
    command = ["cargo", "+nightly"]
    if checker == "miri":
        environment |= {"MIRIFLAGS": "-Zmiri-disable-isolation", "PROPTEST_CASES": "4"}
        command += ["miri", verb]
    else:
        log = f":log_path={reports}" if reports else ""
        environment |= {
            "RUSTFLAGS": f"-Zsanitizer={checker}",
            "ASAN_OPTIONS": "detect_leaks=1" + log,
            "TSAN_OPTIONS": "halt_on_error=0" + log,
        }
        host = re.findall(r"host: (\S+)", text_of("rustc", "+nightly", "-vV"))[0]
        command += [verb, "--target", host]
        # Without this the synchronisation inside of std would be unknown to ThreadSanitizer.
        command += ["-Zbuild-std"] if checker == "thread" else []
    command += ["--locked", "--manifest-path", str(manifest), *words]
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)


def text_of(*words: str) -> str:
    """Return the stdout of a command; empty where it fails."""
    return subprocess.run(words, text=True, capture_output=True, check=False).stdout


def finds_what_was_planted(checker: str) -> bool:
    """Whether the checker is really at work."""
    for fault, report in CHECKERS[checker].items():
        done = cargo(checker, "run", PLANTED, ["--", fault], "")
        if report not in done.stderr:
            print(f"{checker} does not find the planted {fault}:\n{done.stderr}")
            return False
    return True


def finds_nothing_else(checker: str) -> bool:
    """Whether all tests pass and the checker, also in processes that were killed, has nothing to report."""
    words = ["--lib"]
    if checker == "miri":
        words += ["--", *INTERPRETED]
    else:
        names = {path.parent.name for path in (ROOT / "engine/tests").glob("*/main.rs")} - {MEASURED}
        words += [word for name in sorted(names) for word in ("--test", name)]
    with tempfile.TemporaryDirectory() as folder:
        done = cargo(checker, "test", ROOT / "engine/Cargo.toml", ["--no-fail-fast", *words], f"{folder}/report")
        reports = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
    passed = sum(int(number) for number in re.findall(r"(\d+) passed", done.stdout))
    print("\n".join(reports), end="")
    print(f"{checker}: {passed} tests passed, {len(reports)} reports", flush=True)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
    return done.returncode == 0 and not reports and passed > 0


def main() -> None:
    """Run the checkers named, or all."""
    wanted = sys.argv[1:] or list(CHECKERS)
    if not shutil.which("rustup"):
        sys.exit("the sanitizers need Rust's nightly toolchain, which comes with rustup: https://rustup.rs")
    installed = text_of("rustup", "component", "list", "--toolchain", "nightly", "--installed")
    if not ("miri" in installed and "rust-src" in installed):
        sys.exit(f"the sanitizers need Rust's nightly toolchain with miri and rust-src: {INSTALL}")
    found = [checker for checker in wanted if not (finds_what_was_planted(checker) and finds_nothing_else(checker))]
    if found:
        sys.exit(f"see above what is wrong: {', '.join(found)}")


if __name__ == "__main__":
    main()
