"""View models of an audit: settings by state, each with its advice and the lines to try and set it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceView:
    """An advice in words: what is advised and its state, by whom, on which evidence, and further sentences."""

    advised: str
    state: str
    source: str
    url: str
    evidence: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingView:
    """A setting with all advice to be shown; `remarks` are warnings beside its name, `lines` have titles."""

    name: str
    now: str
    remarks: tuple[str, ...]
    advice: tuple[AdviceView, ...]
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGroup:
    """The settings of a state: `settings` are explained, `names` are only named."""

    title: str
    count: int
    is_urgent: bool
    settings: tuple[SettingView, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditView:
    """An audit as it is shown; `rows` are the cells of a table of what differs, the first of the titles."""

    title: str
    machine: str
    headline: str
    groups: tuple[AuditGroup, ...]
    rows: tuple[tuple[str, ...], ...]
    footer: str
