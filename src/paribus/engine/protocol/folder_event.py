"""Events about a folder of the target: what the machine allows there, and the data of experiments in it."""

from typing import Annotated, Literal

from pydantic import Field

from paribus.engine.protocol.message import Message

_YEAR_10000_S = 253402300800


class Directory(Message):
    """A folder and the file system under it.

    Null means for `writable` yes, for `untrusted` that others cannot change it.
    """

    path: str
    free_bytes: int
    total_bytes: int
    filesystem: str
    device: str
    major_minor: str
    writable: str | None
    exists: bool
    untrusted: str | None


class Probe(Message):
    """Machine and its capabilities; null means allowed, a text is the reason why not."""

    event: Literal["probe"]
    protocol: int
    version: str
    kernel: str
    hostname: str
    cores: int
    memory_bytes: int
    boot_id: str
    uid: int
    io_uring: str | None
    direct: str | None
    directory: Directory


class DataFolderMade(Message):
    """The folder of an experiment is there."""

    event: Literal["data-folder"]
    path: str


class Manifest(Message):
    """Statement in a folder about the experiment of its data. `about`: the controller's own entries."""

    experiment: str
    made_unix_s: Annotated[float, Field(ge=0, lt=_YEAR_10000_S, allow_inf_nan=False)]
    about: dict[str, str]


class DataFolder(Message):
    """A folder of data; without a manifest it was not made by an experiment. `in_use`: a program in it runs.

    `empty`: it has no content, as after an interrupted creation or removal.
    """

    path: str
    manifest: Manifest | None
    size_bytes: int
    empty: bool = False
    in_use: bool


class DataFolders(Message):
    """The folders of data below a place."""

    event: Literal["data-folders"]
    folders: list[DataFolder]
