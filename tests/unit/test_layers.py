"""Who may import whom: what is not listed is forbidden."""

import grimp

BOTTOM = {"worker_process", "model", "findings", "errors", "units", "registry", "i18n", "files"}

MAY_IMPORT = {
    "hosts": set(),
    "plausibility": set(),
    "stats": set(),
    "store": set(),
    "engine": {"hosts"},
    "knobs": {"hosts"},
    "databases": {"hosts", "engine"},
    "parsers": set(),
    "workloads": {"engine", "parsers"},
    "plan": {"knobs.catalog", "knobs.guard", "stats"},
    "trial": {"knobs", "databases", "workloads", "parsers", "engine", "hosts", "stats"},
    "analysis": {"stats", "plausibility"},
    "imports": {"parsers", "store"},
    "report": set(),
    "export": {"report"},
    "web": {"report", "store"},
    "experiment": {"plan", "trial", "store", "analysis", "stats"},
    "cli": {
        "experiment",
        "plan",
        "trial",
        "store",
        "analysis",
        "report",
        "export",
        "web",
        "knobs",
        "databases",
        "workloads",
        "parsers",
        "engine",
        "hosts",
        "stats",
        "plausibility",
        "imports",
    },
}


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_imports_follow_the_layers() -> None:
    graph = grimp.build_graph("paribus", cache_dir=None)
    wrong = []
    for module in graph.modules:
        own = _part(module)
        for imported in graph.find_modules_directly_imported_by(module):
            other = _part(imported)
            inner = imported.removeprefix("paribus.")
            allowed = MAY_IMPORT.get(own, set())
            bottom = other in BOTTOM and own != "stats"
            listed = any(inner == name or inner.startswith(f"{name}.") for name in allowed)
            if other in ("", own) or bottom or listed:
                continue
            wrong.append(f"{module} imports {imported}")
    assert not wrong, "\n".join(sorted(wrong))


def test_every_part_is_listed() -> None:
    graph = grimp.build_graph("paribus", cache_dir=None)
    parts = {_part(module) for module in graph.modules} - {""}
    assert parts == set(MAY_IMPORT) | BOTTOM
