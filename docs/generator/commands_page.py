"""Page of the commands."""

from generator import command_line
from generator.command_line import Command, Parameter
from generator.markdown import code, fenced, literal, page, table
from generator.texts import introduction


def render() -> str:
    """Returns the page."""
    commands = command_line.commands()
    overview = table(
        ("command", "what it does"),
        [
            (f"[{command.name}](#paribus-{command.name.replace(' ', '-')})", literal(command.summary))
            for command in commands
        ],
    )
    return page(
        "Commands",
        introduction("commands"),
        overview,
        "## Options of `paribus` itself",
        _options(command_line.global_options()),
        *(_command(command) for command in commands),
    )


def _command(command: Command) -> str:
    parts = [
        f"## paribus {command.name}",
        literal(command.summary),
        fenced("\n".join(command.synopsis(100)), "text"),
        *(literal(paragraph) for paragraph in command.paragraphs),
    ]
    if command.arguments:
        rows = [(code(_value(argument)), literal(argument.help), _detail(argument)) for argument in command.arguments]
        parts.append(table(("argument", "meaning", "default, values"), rows))
    if command.options:
        parts.append(_options(command.options))
    if command.examples:
        parts.append(fenced("\n".join(command.examples), "sh"))
    return "\n\n".join(parts)


def _options(options: tuple[Parameter, ...] | list[Parameter]) -> str:
    return table(
        ("option", "meaning", "default, values"),
        [(_spelling(option), literal(option.help), _detail(option)) for option in options],
    )


def _value(parameter: Parameter) -> str:
    return parameter.placeholder.strip("[]")


def _spelling(option: Parameter) -> str:
    return ", ".join(code(" ".join(filter(None, [spelling, option.placeholder]))) for spelling in option.spellings)


def _detail(parameter: Parameter) -> str:
    choices = f"one of {', '.join(map(code, parameter.choices))}" if parameter.choices else ""
    repeatable = "may be repeated" if parameter.repeatable and "Repeatable" not in parameter.help else ""
    required = "required" if parameter.required else ""
    return "; ".join(filter(None, [code(parameter.default), required, choices, parameter.bounds, repeatable]))
