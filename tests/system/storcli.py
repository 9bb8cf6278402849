"""A RAID controller's program with a state, for tests."""

import json
from collections.abc import Mapping
from pathlib import Path

from command import PYTHON

DOUBLE = Path(__file__).parents[1] / "doubles" / "storcli.py"


class Storcli:
    """The program `storcli64` of a test, with its state beside it."""

    def __init__(self, folder: Path) -> None:
        """Write it into a folder of programs."""
        folder.mkdir()
        self.folder = folder
        program = folder / "storcli64"
        _, _, text = DOUBLE.read_text(encoding="utf-8").partition("\n")
        program.write_text(f"#!{PYTHON} -IS\n{text}", encoding="utf-8")
        program.chmod(0o755)

    @property
    def state(self) -> Mapping[str, str]:
        """Values that were set or put, by key; empty for nothing."""
        file = self.folder / "storcli.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def put(self, **state: str) -> None:
        """Put it into a state, as a person or the hardware does."""
        part = self.folder / "storcli.put"
        part.write_text(json.dumps({**self.state, **state}))
        part.replace(self.folder / "storcli.json")
