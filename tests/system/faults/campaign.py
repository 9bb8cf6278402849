"""Hurts experiments on a real machine, fault after fault, and looks at what is left after each.

    make campaign        1,000 faults, two hours; prints the table of tests/system/faults/README.md
    python tests/system/faults/campaign.py --faults 40 --seed 7
    python tests/system/faults/campaign.py --faults 8 --where guest     power cuts only

After every fault: it is mended, `paribus undo`, and then every setting must be what it was, no journal open, and no
trial lost or counted twice. A fault that struck after the experiment had ended does not count.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("..", "", "faults")]

from faults import FAULTS, Fault
from laboratory import LOCAL, Laboratory, Where, pause

_PATIENCE_S = 240.0
PLACES: dict[Where, str] = {
    "here": "this machine",
    "mount": "this machine, a mount option",
    "there": "over SSH",
    "guest": "over SSH, a virtual machine",
}
_KINDS = (
    "struck",
    "continued by itself",
    "left something to undo",
    "values different",
    "trials lost or double",
    "wrong exit codes",
)
_NOT_RESTORED = 4
_SAYS_RESTORED = (0, 3, 130, 141)


@dataclass
class Toll:
    """Outcome of a campaign: by fault, the number of each of `_KINDS`; and in words whatever is wrong."""

    counts: dict[tuple[str, Where], Counter[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    finished: int = 0

    def of(self, fault: Fault) -> Counter[str]:
        """The counts of one fault."""
        return self.counts.setdefault((fault.name, fault.where), Counter())

    @property
    def struck(self) -> int:
        """Number of faults."""
        return sum(counts["struck"] for counts in self.counts.values())

    def table(self) -> str:
        """For a document."""
        lines: list[tuple[str, ...]] = [("fault", "target", *_KINDS), ("---",) * (2 + len(_KINDS))]
        for fault in FAULTS:
            counts = self.counts.get((fault.name, fault.where), Counter())
            lines.append((fault.name, PLACES[fault.where], *(str(counts[kind]) for kind in _KINDS)))
        sums = (str(sum(counts[kind] for counts in self.counts.values())) for kind in _KINDS)
        lines.append(("all", "", *sums))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def choose(faults: int, rng: random.Random, among: Sequence[Fault] = FAULTS) -> list[Fault]:
    """So many faults, each at least once where there are enough of them, and then by their share."""
    chosen = [*among, *rng.choices(among, [fault.share for fault in among], k=faults)][:faults]
    rng.shuffle(chosen)
    return chosen


def campaign(lab: Laboratory, chosen: Sequence[Fault], rng: random.Random, toll: Toll) -> None:
    """One fault after the other until Ctrl-C, and into `toll` what came of each."""
    told = 0
    for number, fault in enumerate(chosen, start=1):
        try:
            for _ in range(5):  # an experiment that had ended before was not hurt
                if _hurt(lab, fault, rng, toll):
                    break
        except KeyboardInterrupt:
            break
        for wrong in toll.wrong[told:]:
            print(f"WRONG: {wrong}", file=sys.stderr)
        told = len(toll.wrong)
        print(f"{number} of {len(chosen)}: {fault.name}, {fault.where}: {+toll.of(fault)}", file=sys.stderr)
    for where in dict.fromkeys(fault.where for fault in chosen):
        _finish(lab, where, toll)


def _hurt(lab: Laboratory, fault: Fault, rng: random.Random, toll: Toll) -> bool:
    """Let one fault strike, mend it, and look; whether it struck."""
    where = fault.where
    process = lab.start(where)
    struck = pause(rng, process, fault.longest_s) and fault.strike(lab, process, rng)
    code = process.wait(_PATIENCE_S)
    counts = toll.of(fault)
    if where != "guest" and not (struck and fault.hopeless):  # which may be off; or somebody is stopped
        lab.wait_until_nobody_works(where)
    if lie := _lie(lab, fault, code, struck=struck):
        counts["wrong exit codes"] += 1
        toll.wrong.append(f"{fault.name} ({where}): {lie}: {lab.words()[-1500:]}")
    fault.mend(lab)
    if where in LOCAL or where == "guest":
        lab.wait_until_nobody_works(where)
    # What is set in a guest went with its power, but not the journal of it.
    left = bool(lab.open_journals(where) if where == "guest" else lab.different(where))
    undone = lab.undo(where)
    for kind, wrong in (
        ("values different", lab.different(where)),
        ("trials lost or double", lab.lost_or_double(where)),
        ("journals open or broken", lab.open_journals(where)),
    ):
        if wrong:
            counts[kind] += 1
            toll.wrong.append(f"{fault.name} ({where}), exit code {code}: {kind}: {wrong}: {lab.words()[-1500:]}")
    toll.wrong += [f"{fault.name} ({where}): {wrong}" for wrong in lab.wrong]
    lab.wrong.clear()
    if undone != 0:
        toll.wrong.append(f"{fault.name} ({where}): undo ended with {undone}")
    if not lab.is_unfinished(where):
        toll.finished += 1
    if struck:
        counts["struck"] += 1
        counts["continued by itself"] += code in (0, 3) and not lab.is_unfinished(where)
        counts["left something to undo"] += left
    return struck


def _lie(lab: Laboratory, fault: Fault, code: int, *, struck: bool) -> str:
    """Return the false statement about the machine that an exit code makes, before the fault is mended."""
    where = fault.where
    if where == "guest":  # it is off
        return ""
    left = lab.different(where)
    if code in _SAYS_RESTORED and left:
        return f"ended with {code}, and there is left {left}"
    if (
        code == _NOT_RESTORED
        and not left
        and not lab.open_journals(where)
        and "could not look" not in lab.words().lower()
    ):
        return f"ended with {code}, and nothing is left"
    if struck and fault.hopeless and (undone := lab.undo(where)) != _NOT_RESTORED:
        unseen = lab.different(where) or ("a target that cannot be asked" if where == "there" else "")
        if unseen:
            return f"undo ended with {undone}, and there is left {unseen}: {lab.words_of_command()}"
    if lab.proof.exists():
        lab.proof.unlink()
        return "a program of another user was run"
    return ""


def _finish(lab: Laboratory, where: Where, toll: Toll) -> None:
    """Run the last interrupted experiment to its end, and count whatever is wrong then."""
    process = lab.start(where)
    code = process.wait(_PATIENCE_S)
    if lab.is_unfinished(where) or code not in (0, 3):
        toll.wrong.append(f"the last experiment {where} did not come to its end ({code}): {lab.words()[-1500:]}")
    wrong = (lab.lost_or_double(where), lab.different(where), lab.open_journals(where))
    if any(wrong):
        toll.wrong.append(f"after all, {where}: trials lost or double, values different, journals open: {wrong}")
    toll.finished += 1


def main() -> int:
    """Run a campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--faults", type=int, default=1000, help="how many [1000]")
    parser.add_argument("--where", choices=PLACES, nargs="+", default=list(PLACES), help="targets to hurt [all]")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="of their order")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("the campaign needs root: it makes loop devices, file systems and a network of its own")
    began, toll = time.monotonic(), Toll()
    with tempfile.TemporaryDirectory(prefix="paribus-campaign-", dir="/var/tmp") as folder:
        lab = Laboratory(Path(folder))
        try:
            rng = random.Random(options.seed)
            among = [fault for fault in FAULTS if fault.where in options.where]
            campaign(lab, choose(options.faults, rng, among), rng, toll)
        finally:
            minutes = (time.monotonic() - began) / 60
            print(f"seed {options.seed}, {minutes:.0f} minutes, {toll.finished} experiments ended\n")
            print(toll.table())
            for wrong in toll.wrong:
                print(f"\nWRONG: {wrong}")
            lab.remove()
    return 1 if toll.wrong or toll.struck < options.faults else 0


if __name__ == "__main__":
    sys.exit(main())
