"""Import rules between the top-level parts: an import that no rule lists is forbidden."""

import grimp
import pytest

BOTTOM = {
    "worker_process",
    "model",
    "findings",
    "mechanisms",
    "errors",
    "units",
    "registry",
    "i18n",
    "files",
    "histogram",
    "user_folders",
    "temporary",
}
BELOW_LAB = {
    "experiment",
    "plan",
    "trial",
    "store",
    "analysis",
    "report",
    "export",
    "knobs",
    "databases",
    "workloads",
    "parsers",
    "engine",
    "hosts",
    "stats",
    "plausibility",
    "audit",
    "imports",
    "sandbox",
}

MAY_IMPORT = {
    "hosts": set(),
    "plausibility": set(),
    "audit": set(),
    "stats": set(),
    "store": set(),
    "engine": {"hosts"},
    "knobs": {"hosts"},
    "databases": {"hosts", "engine"},
    "parsers": set(),
    "workloads": {"engine", "parsers"},
    "plan": {"knobs.catalog", "knobs.guard", "knobs.layouts", "knobs.loss", "stats"},
    "trial": {"knobs", "databases", "workloads", "parsers", "engine", "hosts", "stats"},
    "analysis": {"stats", "plausibility"},
    "imports": {"parsers", "store"},
    "report": set(),
    "sandbox": {"hosts"},
    "export": {"report"},
    "experiment": {"plan", "trial", "store", "analysis", "stats"},
    "lab": BELOW_LAB,
    "web": {"lab", "report"},
    "cli": {"lab", "report", "web"},
    "__main__": {"cli"},
}

EXCEPTIONS: set[tuple[str, str]] = set()
"""Imports (module, imported module) that break a rule and wait for removal."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("paribus", cache_dir=None)


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _is_allowed(module: str, imported: str) -> bool:
    part, other = _part(module), _part(imported)
    if part == "":
        return other == "lab"  # the public API, imported at its first use
    if other in ("", part) or (other in BOTTOM and part != "stats"):
        return True
    inner = imported.removeprefix("paribus.")
    return any(inner == name or inner.startswith(f"{name}.") for name in MAY_IMPORT.get(part, set()))


def _imports(graph: grimp.ImportGraph) -> set[tuple[str, str]]:
    return {
        (module, imported) for module in graph.modules for imported in graph.find_modules_directly_imported_by(module)
    }


def test_imports_follow_the_layers(graph: grimp.ImportGraph) -> None:
    wrong = {pair for pair in _imports(graph) if not _is_allowed(*pair)} - EXCEPTIONS
    assert not wrong, "\n".join(sorted(f"{module} imports {imported}" for module, imported in wrong))


def test_every_exception_is_still_needed(graph: grimp.ImportGraph) -> None:
    imports = _imports(graph)
    unneeded = {pair for pair in EXCEPTIONS if pair not in imports or _is_allowed(*pair)}
    assert not unneeded


def test_every_part_is_listed(graph: grimp.ImportGraph) -> None:
    parts = {_part(module) for module in graph.modules} - {""}
    assert parts == set(MAY_IMPORT) | BOTTOM


def test_parts_import_each_other_without_a_cycle(graph: grimp.ImportGraph) -> None:
    imported_by: dict[str, set[str]] = {}
    for module, imported in _imports(graph):
        if _part(imported) not in ("", _part(module)):
            imported_by.setdefault(_part(module), set()).add(_part(imported))
    remaining = dict(imported_by)
    while free := [part for part in remaining if not remaining[part] & remaining.keys()]:
        for part in free:
            del remaining[part]
    assert not remaining, f"in a cycle or above one: {sorted(remaining)}"


def test_lab_imports_no_terminal_library() -> None:
    graph = grimp.build_graph("paribus", include_external_packages=True, cache_dir=None)
    for library in {"typer", "rich"} & graph.modules:
        importers = graph.find_modules_that_directly_import(library)
        assert not [module for module in importers if _part(module) == "lab"], library
