"""Facts of a machine and of its server that rules are held against, and what could not be read."""

import re
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from paribus.audit.expression import Scalar
from paribus.model import FAMILIES, Verdict
from paribus.units import show_duration, show_size

BYTES, MILLISECONDS = "bytes", "ms"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SWITCHES = ("on", "off")
_NUMBERED: Mapping[float | str, str] = {1.0: "on", 0.0: "off"}
_SHARE = re.compile(r"(\d+(?:\.\d+)?)%")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SettingInForce(_Part):
    """A setting's value now, to compute with: sizes in bytes, times of a server in milliseconds, else as it is."""

    value: Scalar
    unit: str = ""

    def number(self, memory: object) -> float | None:
        """The value as a number, a share such as `20%` as that share of memory; None for words."""
        if isinstance(self.value, int | float):
            return float(self.value)
        if (share := _SHARE.fullmatch(self.value)) and isinstance(memory, int | float):
            return float(share[1]) / 100 * memory
        return None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of memory, such as `20%`."""
        return isinstance(self.value, str) and _SHARE.fullmatch(self.value) is not None

    @property
    def is_automatic(self) -> bool:
        """Whether it is -1, which leaves the value to the server."""
        return self.value == -1

    def is_same(self, advised: Scalar) -> bool:
        """Whether it is an advised value, however written; 1 and 0 are a switch where a switch is advised."""
        plain = _plain(self.value)
        if _plain(advised) in _SWITCHES and plain in _NUMBERED:
            plain = _NUMBERED[plain]
        return plain == _plain(advised)

    def show(self, value: Scalar | None = None) -> str:
        """A value with its unit, for people; without one the value now."""
        value = self.value if value is None else value
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, str):
            return value
        if self.unit == BYTES and value >= 0:
            return show_size(value)
        if self.unit == MILLISECONDS and value > 0:
            return show_duration(value / 1000)
        number = f"{value:g}" if isinstance(value, float) else str(value)
        return f"{number} {self.unit}" if self.unit and self.unit not in (BYTES, MILLISECONDS) else number


class Lack(_Part):
    """Reason why a setting or fact has no value; `is_absent`: the machine or the server does not have it."""

    why: str
    is_absent: bool = False


class LocalMeasurement(_Part):
    """Verdict of an experiment on this machine: what `arm` does instead of `baseline` under a workload.

    `change` is the effect on the throughput with its interval, in words.
    """

    experiment: str
    workload: str
    baseline: SettingInForce
    arm: SettingInForce
    verdict: Verdict
    change: str


class AuditFacts(_Part):
    """Facts and settings by name, which rules are held against; the lack of others, and measurements by setting."""

    facts: dict[str, Scalar]
    settings: dict[str, SettingInForce] = {}
    lacks: dict[str, Lack] = {}
    measurements: dict[str, list[LocalMeasurement]] = {}

    @property
    def family(self) -> str | None:
        """The family of the server's variables, such as `mysql`; None without a server."""
        return FAMILIES.get(str(self.facts.get("server")))

    def values(self) -> Mapping[str, Scalar]:
        """All facts and settings by name, as expressions see them."""
        memory = self.facts.get("memory")
        shares = {name: setting.number(memory) for name, setting in self.settings.items() if setting.is_share}
        settings = {name: setting.value for name, setting in self.settings.items()}
        return {**settings, **{name: size for name, size in shares.items() if size is not None}, **self.facts}

    def setting(self, name: str) -> SettingInForce | None:
        """A setting, or a fact in its place; None where there is no value."""
        if (setting := self.settings.get(name)) is not None:
            return setting
        fact = self.facts.get(name)
        return None if fact is None else SettingInForce(value=fact)


def _plain(value: Scalar) -> float | str:
    """A value without its spelling; words for on and off stand for one another."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return float(value)
    text = value.strip().casefold()
    if _NUMBER.fullmatch(text):
        return float(text)
    if text in ("on", "yes", "true", "enabled", "t", "y"):
        return "on"
    return "off" if text in ("off", "no", "false", "disabled", "f", "n") else text
