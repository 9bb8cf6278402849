"""Playbooks of `paribus ticket`, checked by ansible-lint and run on this machine: made, made again, taken back.

As root, on a machine that you can spare. Ansible is installed into a temporary environment. The experiment is scripted:
each second level of its settings is better.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tests/system", "tests/unit/experiment", "tests/unit/plan")]

import scripted  # noqa: E402
from devices import new_loop  # noqa: E402

PACKAGES = ("ansible-core==2.19.14", "ansible-lint==26.10.1")
CHANGED = re.compile(r"changed=(\d+)\s+unreachable=0\s+failed=0")
PLAN = """
name = "rollout"
[target]
path = "{path}"
[factors]
"block.iostats" = [1, 0]
"vm.swappiness" = [60, 10]
"mount.atime" = ["relatime", "noatime"]
[[workload]]
kind = "fileio"
mode = "rndwr"
total_size = "4MiB"
threads = [1]
[protocol]
trial = "150ms"
settle = "50ms"
rounds = 2
placebo = false
design = "one-at-a-time"
"""


def main() -> None:
    """Run all steps, and end with an error where one fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o700)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([folder / "venv/bin/pip", "install", "--quiet", *PACKAGES], check=True)
        with new_loop(folder / "disk.img", 64 * 2**20) as device:
            _on(device, folder)


def _on(device: str, folder: Path) -> None:
    point = folder / "data"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    subprocess.run(["mount", device, point], check=True)
    try:
        _roll_out(point, folder)
    finally:
        subprocess.run(["umount", "--lazy", point], check=True)


def _roll_out(point: Path, folder: Path) -> None:
    store, files = folder / "store.db", folder / "change"
    experiment = scripted.experiment_here(PLAN.format(path=point), str(store))
    _paribus("ticket", experiment, "--store", str(store), "-o", str(files))
    environment = os.environ | {"PATH": f"{folder / 'venv/bin'}:{os.environ['PATH']}", "HOME": str(folder)}
    lint = ["ansible-lint", "--offline", "--profile", "production", "apply.yml", "rollback.yml"]
    subprocess.run(lint, cwd=files, env=environment, check=True)
    changes = [_play(files / name, environment) for name in ("apply.yml", "apply.yml")]
    in_force = _paribus("verify", experiment, "--store", str(store))
    changes.append(_play(files / "rollback.yml", environment))
    taken_back = _paribus("verify", experiment, "--store", str(store), expected=1)
    print(f"changes of apply, apply again, rollback: {changes}\n{in_force}{taken_back}", flush=True)
    assert changes[0] == changes[2] > 0 and changes[1] == 0, changes


def _paribus(*arguments: str, expected: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "paribus.cli.main", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def _play(playbook: Path, environment: dict[str, str]) -> int:
    """Run a playbook here, and return the number of changes."""
    options = [
        "-i",
        "localhost,",
        "-c",
        "local",
        "-e",
        "target=localhost",
        "-e",
        f"ansible_python_interpreter={sys.executable}",
    ]
    done = subprocess.run(
        ["ansible-playbook", *options, playbook], env=environment, capture_output=True, text=True, check=False
    )
    recap = CHANGED.search(done.stdout)
    assert recap, done.stdout + done.stderr
    return int(recap[1])


if __name__ == "__main__":
    main()
