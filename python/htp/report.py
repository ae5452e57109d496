"""The Markdown report of a tagged model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .figures import short_costs, unsure
from .model import TaggedModel
from .repeats import Repeats

#: At most this many rows of tables that grow with the model.
_MOST = 50


def markdown(model: TaggedModel) -> str:
    """The report: coverage, modules, functions, evidence, decisions."""
    s = model.statistics
    parts = [
        f"# {_text(model.modules[''].class_name or model.path.stem)}",
        f"`{_text(model.path.name)}`: **{s['nodes']}** operations of **{s['modules']}** modules, "
        f"**{100 * s['coverage']:.1f} %** tagged, mean confidence **{s['confidence']:.3f}**, "
        f"**{s['contaminated']}** contaminated.",
        _table(
            ("", "operations", ""),
            [
                ("all", s["nodes"], f"{s['constants']} of them constants"),
                ("tagged", s["tagged"], f"{100 * s['coverage']:.1f} %"),
                ("placed", s["placed"], f"{100 * s['placed_share']:.1f} %, below the root"),
                ("shared", s["shared"], "used by several modules"),
                ("contested", s["contested"], "with evidence for other modules, too"),
                (
                    "contaminated",
                    s["contaminated"],
                    "tagged with another layer than their names say",
                ),
            ],
        ),
        "## Modules",
        "The tag of a module is made of the names from the root to it, each after a `/`. *Own* counts the "
        "operations with its tag, *all* includes those of the modules below it, both without constants. Parameters, "
        "bytes of weights and multiply-adds include all modules below; anything shared counts once. Equal "
        "sibling modules share one line, with the numbers of one of them.",
        _table(
            ("module", "path", "calls", "own", "all", "parameters", "bytes", "multiply-adds"),
            [
                (
                    _code(branch.replace(" ", "\u00a0") + layers.short_tag),
                    _code(layers.names("")),
                    layers.first.calls,
                    model.tag_counts.get(layers.first.tag, 0),
                    layers.first.total_nodes,
                    *short_costs(model.figures.modules[layers.first.path]),
                )
                for branch, _, layers in Repeats(model).tree(torch_nn=False)
            ],
        ),
        *[f"Not counted: {_text(note)}." for note in model.figures.notes],
        *_functions(model),
        "## Evidence",
        _table(
            ("evidence", "operations", "share", "mean confidence"),
            [
                (
                    _text(name or "none"),
                    kind["nodes"],
                    f"{100 * kind['nodes'] / max(1, s['tagged']):.1f} %",
                    f"{kind['confidence']:.3f}",
                )
                for name, kind in s["evidence"].items()
            ],
        ),
        "## Decisions",
        _decisions(model),
    ]
    return "\n\n".join(parts) + "\n"


def _functions(model: TaggedModel) -> list[str]:
    """The functions of an outlined model."""
    functions = model.metadata["functions"]
    if not functions:
        return []
    rows = [
        (_code(name), len(f["calls"]), _some([_code(call["scope"]) for call in f["calls"]]))
        for name, f in functions.items()
    ]
    return ["## Functions", _table(("function", "calls", "modules"), rows)]


def _some(items: Sequence[str], most: int = 4) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _decisions(model: TaggedModel) -> str:
    """Nodes whose tags are uncertain or that had several contexts, the least certain first."""
    open_ones = unsure(model)
    others = [n for n in model.nodes.values() if n.contexts and not n.is_constant]
    decided = list({node.name: node for node in [*open_ones, *others]}.values())
    if not decided:
        return "No operation had more than one context."
    table = _table(
        ("operation", "tag", "evidence", "confidence", "also", "reason"),
        [
            (
                _code(node.name),
                _code(node.tag),
                _text(node.evidence),
                f"{node.confidence:.2f}",
                _some(list(dict.fromkeys(_code(c.tag) for c in node.contexts))),
                _text(node.reason),
            )
            for node in decided[:_MOST]
        ],
    )
    if len(decided) <= _MOST:
        return table
    rest = len(decided) - _MOST
    return f"{table}\n\n… and {rest} more: `htp analyze --show-resolution-details` lists them all."


def _text(value: object) -> str:
    """Escapes text, so that it is not taken for Markdown or HTML and stays on one line."""
    shown = "".join(c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in str(value))
    return re.sub(r"([\\`*_\[\]<>|&#~])", r"\\\1", shown)


def _code(value: object) -> str:
    """A name as code, in which a bar would still end the cell, and a backtick the code."""
    shown = "".join(c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in str(value or ""))
    shown = shown.replace("`", "\u02cb").replace("|", "\\|")
    return f"`{shown}`" if shown else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; columns of numbers are aligned right."""
    cells = [[str(cell) for cell in row] for row in rows]
    right = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(heads))]
    lines = [" | ".join(heads), " | ".join("--:" if r else "---" for r in right)]
    return "\n".join(f"| {line} |" for line in lines + [" | ".join(row) for row in cells])


def _is_number(text: str) -> bool:
    return text.removeprefix("≥ ").rstrip(" %kMGT").replace(".", "", 1).isdigit()
