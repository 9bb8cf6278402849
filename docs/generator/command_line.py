"""Commands of `paribus` with their arguments and options, read from the typer application."""

import enum
import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import typer
from typer.models import ArgumentInfo, OptionInfo

from paribus.cli.main import app


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option: its spellings (empty for an argument), its value's placeholder, default and help."""

    spellings: tuple[str, ...]
    placeholder: str
    default: str
    help: str
    choices: tuple[str, ...] = ()
    bounds: str = ""
    repeatable: bool = False
    required: bool = False

    @property
    def usage(self) -> str:
        """The parameter in a synopsis."""
        if not self.spellings:
            placeholder = self.placeholder.strip("[]")
            return placeholder if self.required else f"[{placeholder}]"
        spelling = "|".join(name for name in self.spellings if name.startswith("--"))
        return f"[{' '.join(filter(None, [spelling, self.placeholder]))}]{'…' if self.repeatable else ''}"


@dataclass(frozen=True, slots=True)
class Command:
    """A command such as `knobs list`; `paragraphs` describe it, `examples` are command lines."""

    name: str
    summary: str
    paragraphs: tuple[str, ...]
    examples: tuple[str, ...]
    arguments: tuple[Parameter, ...]
    options: tuple[Parameter, ...]

    def synopsis(self, width: int) -> list[str]:
        """Returns the command line with every argument and option, in lines of at most `width` characters."""
        words = [f"paribus {self.name}", *(parameter.usage for parameter in (*self.options, *self.arguments))]
        text = " ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in words)
        lines = textwrap.wrap(text, width, subsequent_indent=" " * (len(words[0]) + 1), break_on_hyphens=False)
        return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def commands() -> list[Command]:
    """Returns every command in the order of `paribus --help`."""
    return list(_commands(app, ""))


def global_options() -> list[Parameter]:
    """Returns the options of `paribus` itself, those that typer adds included."""
    assert app.registered_callback is not None and app.registered_callback.callback is not None
    declared = [parameter for parameter in _parameters(app.registered_callback.callback) if parameter.spellings]
    return [
        *declared,
        Parameter(("--install-completion",), "", "", "Install completion for the current shell."),
        Parameter(("--show-completion",), "", "", "Print the completion script of the current shell."),
        Parameter(("--help", "-h"), "", "", "Print the help of `paribus` or of a command, and end."),
    ]


def _commands(application: typer.Typer, prefix: str) -> Iterator[Command]:
    groups = {group.name: group.typer_instance for group in application.registered_groups}
    for registered in application.registered_commands:
        assert registered.name is not None and registered.callback is not None
        yield _command(prefix + registered.name, registered.callback)
    for name, group in groups.items():
        assert name is not None and group is not None
        yield from _commands(group, f"{name} ")


def _command(name: str, callback: Callable[..., Any]) -> Command:
    paragraphs = [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(callback) or "").split("\n\n")]
    described = [paragraph for paragraph in paragraphs if not paragraph.startswith("Example: ")]
    parameters = _parameters(callback)
    return Command(
        name=name,
        summary=described[0],
        paragraphs=tuple(described[1:]),
        examples=tuple(line.removeprefix("Example: ") for line in paragraphs if line.startswith("Example: ")),
        arguments=tuple(parameter for parameter in parameters if not parameter.spellings),
        options=tuple(parameter for parameter in parameters if parameter.spellings),
    )


def _parameters(callback: Callable[..., Any]) -> list[Parameter]:
    declared = inspect.signature(callback, eval_str=True).parameters
    visible = {name: each for name, each in declared.items() if not each.annotation.__metadata__[0].hidden}
    return [_parameter(name, parameter.annotation, parameter.default) for name, parameter in visible.items()]


def _parameter(name: str, hint: Any, default: object) -> Parameter:
    annotation, information = hint.__origin__, hint.__metadata__[0]
    assert isinstance(information, ArgumentInfo | OptionInfo)
    value_type, repeatable = _value_type(annotation)
    is_option = isinstance(information, OptionInfo)
    spellings: tuple[str, ...] = ()
    if is_option:
        written = [text for text in (information.default, *(information.param_decls or ())) if isinstance(text, str)]
        spellings = tuple("/".join(written or [f"--{name.replace('_', '-')}"]).split("/"))
    choices = tuple(str(choice.value) for choice in value_type) if issubclass(value_type, enum.Enum) else ()
    bounds = [bound for bound in (information.min, information.max) if bound is not None]
    return Parameter(
        spellings=spellings,
        placeholder="" if value_type is bool else information.metavar or _placeholder(name, value_type, is_option),
        default=_default(default),
        help=information.help or "",
        choices=choices,
        bounds=("from {:,} to {:,}" if len(bounds) > 1 else "from {:,}").format(*bounds) if bounds else "",
        repeatable=repeatable,
        required=default is inspect.Parameter.empty,
    )


def _value_type(annotation: Any) -> tuple[type, bool]:
    """Returns the type of one value, and whether the parameter takes several."""
    if isinstance(annotation, types.UnionType):
        annotation = next(part for part in typing.get_args(annotation) if part is not types.NoneType)
    if typing.get_origin(annotation) is list:
        return typing.get_args(annotation)[0], True
    return annotation, False


def _placeholder(name: str, value_type: type, is_option: bool) -> str:
    if not is_option:
        return name.upper()
    return "N" if value_type is int else "CHOICE" if issubclass(value_type, enum.Enum) else "TEXT"


def _default(default: object) -> str:
    if default is inspect.Parameter.empty or default is None or default == "" or default is False:
        return ""
    if default is True:
        return "on"
    return str(default.value if isinstance(default, enum.Enum) else default)
