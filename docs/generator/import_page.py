"""Page of the files that `paribus import --map` and `paribus report --claims` read."""

from generator.markdown import page, table
from generator.texts import import_keys, introduction
from paribus.parsers.formats import FORMATS

_TITLES = {
    "Rules": "### Keys of the file of rules",
    "Rule": "### rule",
    "Claims": "### Keys of the file of claims",
    "Claim": "### claim",
    "Change": "### changes",
}


def render() -> str:
    """Returns the page."""
    formats = f"`--format` takes {', '.join(f'`{name}`' for name in FORMATS)}. Without it, the content decides."
    return page(
        "Rules and claims of imported results",
        introduction("import"),
        f"## Formats\n\n{formats}",
        introduction("import-rules"),
        *map(_keys, ("Rules", "Rule")),
        introduction("import-claims"),
        *map(_keys, ("Claims", "Claim", "Change")),
    )


def _keys(name: str) -> str:
    rows = [(f"`{key}`", kind, meaning) for key, (kind, meaning) in import_keys()[name].items()]
    return f"{_TITLES[name]}\n\n{table(('key', 'type', 'meaning'), rows)}"
