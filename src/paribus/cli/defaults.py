"""Defaults of options from configuration files: of the system, then of the user.

In: `/etc/paribus/defaults.toml` and `~/.config/paribus/defaults.toml`. Out: the map that the command line takes.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption

from paribus.errors import UsageError
from paribus.registry import nearest
from paribus.user_folders import config_folder

Verb = TyperCommand | TyperGroup
_FILE = "defaults.toml"
_SYSTEM = Path("/etc/paribus")
_EACH_TIME = ("yes", "help", "version")  # a confirmation that is always given is none


def default_map(command: TyperGroup) -> dict[str, Any]:
    """Return the defaults of every verb; a key of the user's file overrides that of the system's.

    A key at the top is for each verb with that option, one in a table for the verb of that name. Raises UsageError for
    a file that cannot be read, that others may change, or that names no option.
    """
    defaults: dict[str, Any] = {}
    for folder in filter(None, (_SYSTEM, config_folder())):
        if (path := folder / _FILE).is_file():
            _add(defaults, command, _content(path), path)
    return defaults


def _content(path: Path) -> dict[str, Any]:
    import tomllib

    from paribus.files import distrust

    if reason := distrust(path):
        raise UsageError(f"{reason}, so its defaults are not used", f"make it yours alone: chmod go-w {path}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "make it readable, or remove it") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}", "correct that line") from error


def _add(defaults: dict[str, Any], command: Verb, content: Mapping[str, Any], path: Path) -> None:
    """Add what a file sets to the defaults."""
    verbs = _verbs(command)
    for key, value in content.items():
        if isinstance(value, dict):
            if key not in verbs:
                raise UsageError(f"{path}: [{key}] is no verb of paribus", nearest(key, verbs) or "see: paribus --help")
            for option, setting in value.items():
                _set(defaults, [key], verbs[key], option, setting, path)
            continue
        places = [(names, verb) for names, verb in _leaves(command) if key in _options(verb)]
        if not places or key in _EACH_TIME:
            every = sorted({option for _, verb in _leaves(command) for option in _options(verb)} - {*_EACH_TIME})
            raise UsageError(f"{path}: {key} is no option that can have a default", nearest(key, every) or "remove it")
        for names, verb in places:
            _set(defaults, names, verb, key, value, path)


def _set(defaults: dict[str, Any], names: list[str], verb: Verb, option: str, value: Any, path: Path) -> None:
    """Set the default of one option of the verb with these names."""
    options, command = _options(verb), " ".join(names)
    if option not in options or option in _EACH_TIME:
        hint = nearest(option, [name for name in options if name not in _EACH_TIME]) or f"see: paribus {command} --help"
        raise UsageError(f"{path}: {option} is no option of paribus {command} that can have a default", hint)
    parameter = options[option]
    if parameter.is_flag != isinstance(value, bool) or isinstance(value, dict | list) != parameter.multiple:
        form = "true or false" if parameter.is_flag else "a list" if parameter.multiple else "a text or a number"
        raise UsageError(f"{path}: {option} of paribus {command} is {form}, not {value!r}", "correct it")
    if parameter.name == "store" and os.environ.get("PARIBUS_STORE"):
        return  # a variable of the environment overrides a file
    for name in names:
        defaults = defaults.setdefault(name, {})
    defaults[str(parameter.name)] = value


def _verbs(command: Verb) -> Mapping[str, Verb]:
    verbs = command.commands if isinstance(command, TyperGroup) else {}
    return {name: verb for name, verb in verbs.items() if isinstance(verb, Verb)}


def _leaves(command: Verb) -> Iterator[tuple[list[str], Verb]]:
    """Yield every verb that does something, with its names from the top."""
    for name, verb in _verbs(command).items():
        if _verbs(verb):
            yield from (([name, *names], leaf) for names, leaf in _leaves(verb))
        else:
            yield [name], verb


def _options(verb: Verb) -> dict[str, TyperOption]:
    """Return the options of a verb by their long names without the dashes."""
    return {
        name.removeprefix("--"): parameter
        for parameter in verb.params
        if isinstance(parameter, TyperOption)
        for name in parameter.opts
        if name.startswith("--")
    }
