"""Settings of a server's own file that a plan holds in every trial. The check of a plan calls this."""

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import Catalogue
from paribus.model import FAMILIES, DatabaseFacts, Facts, Value
from paribus.plan.form.parse import Parsed
from paribus.plan.levels import Level, knob_level

_MAX_PLACES = 10
_OPTIONS = {"transaction_isolation": "tx_isolation"}  # of MariaDB: the option of a variable with another name
_LEFT_OUT = N_("of {file} these are left out, since a private server has its own: {names}")
_UNREAD = N_("these lines of {file} are no settings, and are not held: {places}")
_EMPTY = N_("of {file} no setting was read: it has none for a server of this kind")
_NOT_HELD = N_("{place}: {name} is not held: {why}")


def held_lines(parsed: Parsed, catalogue: Catalogue, facts: Facts) -> tuple[dict[str, Value], list[StoredMessage]]:
    """Return the settings that the plan itself leaves alone, and a note for each line that cannot be held."""
    database, configuration, server = parsed.table.database, parsed.configuration, facts.database or DatabaseFacts()
    settings: dict[str, Value] = {}
    notes: list[StoredMessage] = []
    if database is None or server.refusal is not None:
        return settings, notes
    family = FAMILIES[database.kind]
    if configuration.left_out:
        notes.append(stored_message(_LEFT_OUT, file=database.config, names=", ".join(configuration.left_out)))
    if configuration.unread:
        notes.append(
            stored_message(_UNREAD, file=database.config, places=", ".join(configuration.unread[:_MAX_PLACES]))
        )
    if database.config and not configuration.settings:
        notes.append(stored_message(_EMPTY, file=database.config))
    chosen = _chosen(parsed, family)
    spelled = {knob.name.casefold(): knob.name for knob in server.rows}
    for name, line in configuration.settings.items():
        key = spelled.get(f"{family}.{name}".casefold(), f"{family}.{name}")  # DateStyle is datestyle in a file
        if catalogue.find(key) is None and name in _OPTIONS:
            key = f"{family}.{_OPTIONS[name]}"
        if name in chosen:
            continue
        level, reason = _level(key, line.value, catalogue, facts)
        if level is not None:
            settings[key] = level.value
        elif not (line.is_loose and catalogue.find(key) is None):
            why = reason or server.explained.get(name) or f"{server.name} has no such variable"
            notes.append(stored_message(_NOT_HELD, place=line.place, name=name, why=why))
    return settings, notes


def _chosen(parsed: Parsed, family: str) -> set[str]:
    """The variables that the plan itself sets."""
    table = parsed.table
    written = [*table.factors, *table.hold, *(key for each in table.combination for key in each.settings)]
    names = {key.partition(".")[2] for key in written if FAMILIES.get(key.partition(".")[0]) == family}
    return names | set(table.database.settings if table.database else ())


def _level(key: str, value: str, catalogue: Catalogue, facts: Facts) -> tuple[Level | None, str]:
    """The level of a line, or why a private server cannot have it; empty where the variable is unknown."""
    knob, offer = catalogue.find(key), facts.offers.get(key)
    if knob is None:
        return None, ""
    if offer is not None and offer.refused:
        return None, offer.refused
    reasons: list[str] = []
    written = int(value) if value.isdecimal() else value
    level = knob_level(knob, key, written, facts, lambda message, _hint: reasons.append(message))
    return level, "; ".join(reasons)
