"""The contract of a layer, and the types of its options."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from paribus.knobs.layouts.volume import MadeLayer, Names, Volume
from paribus.units import parse_share, parse_size


def _words(value: object) -> object:
    """A list, also as text: `a,b`."""
    return value.split(",") if isinstance(value, str) else value


Size = Annotated[int, BeforeValidator(parse_size)]
Share = Annotated[float, BeforeValidator(parse_share)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Geometry = Literal["auto", "none"]


class Layer(BaseModel):
    """One layer of a layout; its fields are its options.

    Attributes:
        kind: Its name in a plan.
        programs: The programs that make it, with the packages of Debian that have them.
        modules: The kernel modules that it needs, with the package of those that do not come with the kernel.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: ClassVar[str]
    programs: ClassVar[dict[str, str]] = {}
    modules: ClassVar[dict[str, str]] = {}

    def disks(self) -> tuple[str, ...]:
        """Disks that this layer takes for itself, by the names that the plan gives them."""
        return ()

    def make(self, volumes: tuple[Volume, ...], cache_disks: tuple[Volume, ...], names: Names) -> MadeLayer:
        """The steps that make it on these volumes, and on its `cache_disks`. Raises LayoutError."""
        raise NotImplementedError
