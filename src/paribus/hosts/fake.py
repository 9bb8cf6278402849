"""A host in memory, for scripting events that are rare on a real one: refusals, clamps, vanishing files."""

from collections.abc import Callable, Sequence

from paribus.errors import HostError, Missing
from paribus.hosts.transport import Completed, LineProcess

Write = Callable[["FakeHost", str, str], None]


class FakeHost:
    """Files by path; `on_write[path]` stands in for the kernel and may clamp, refuse or move other files."""

    name = "fake"

    def __init__(self, files: dict[str, str], on_write: dict[str, Write] | None = None) -> None:
        self.files = dict(files)
        self.on_write = on_write or {}
        self.written: list[tuple[str, str]] = []

    def reconnect(self, stopped: Callable[[], bool]) -> None:
        """Do nothing: the connection is never lost."""

    def read(self, path: str) -> str:
        """The text of a file. Raises Missing."""
        try:
            return self.files[path]
        except KeyError:
            raise Missing(f"cannot read {path}: No such file or directory") from None

    def read_each(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of many files; None where there is none."""
        return [self.files.get(path) for path in paths]

    def write(self, path: str, text: str) -> None:
        """Pass the write to the script, else store the text. Raises Missing, and the script's errors."""
        self.read(path)
        self.written.append((path, text))
        if path in self.on_write:
            self.on_write[path](self, path, text)
        else:
            self.files[path] = text + "\n"

    def names(self, path: str) -> list[str]:
        """The entries of a folder, sorted."""
        start = path.rstrip("/") + "/"
        return sorted({name[len(start) :].split("/")[0] for name in self.files if name.startswith(start)})

    def resolve(self, path: str) -> str:
        """The path as it is: there are no links here."""
        return path

    def run(
        self,
        argv: Sequence[str],
        *,
        text: str = "",  # noqa: ARG002
        timeout_s: float | None = 60.0,  # noqa: ARG002
        connects: bool = False,  # noqa: ARG002
    ) -> Completed:
        """Raise HostError: this host has no programs."""
        raise HostError(f"cannot run {argv[0]}: this host has no programs")

    def start(self, argv: Sequence[str], *, connects: bool = False) -> LineProcess:  # noqa: ARG002
        """Raise HostError: this host has no programs."""
        raise HostError(f"cannot start {argv[0]}: this host has no programs")
