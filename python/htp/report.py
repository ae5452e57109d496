"""The Markdown report of a tagged model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .model import TaggedModel


def markdown(model: TaggedModel) -> str:
    """Coverage, evidence, modules, and every decision with its reason."""
    s = model.statistics
    parts = [
        f"# {_text(model.modules[''].class_name or model.path.stem)}",
        f"Tagged model: `{model.path.name}`",
        _table(
            ("what", "count"),
            [
                ("modules", s["modules"]),
                ("operations", s["nodes"]),
                ("constants among them", s["constants"]),
                ("initializers", s["initializers"]),
                ("tagged", f"{s['tagged']} ({100 * s['coverage']:.1f} %)"),
                ("mean confidence", f"{s['confidence']:.3f}"),
                ("operations that several modules use", s["shared"]),
                ("operations with evidence for other modules", s["contested"]),
                ("contaminated operations", s["contaminated"]),
            ],
        ),
        "## Evidence",
        _table(
            ("evidence", "operations", "mean confidence"),
            [
                (name or "none", kind["nodes"], f"{kind['confidence']:.3f}")
                for name, kind in s["evidence"].items()
            ],
        ),
        "## Modules",
        _table(
            ("tag", "path", "calls", "own operations", "with submodules"),
            [
                (f"`{m.tag}`", f"`{m.path}`" if m.path else "", m.calls, m.nodes, m.total_nodes)
                for m in model.modules.values()
                if not m.torch_nn
            ],
        ),
        "## Decisions",
        _decisions(model),
    ]
    return "\n\n".join(parts) + "\n"


def _decisions(model: TaggedModel) -> str:
    decided = [node for node in model.nodes.values() if node.contexts and not node.is_constant]
    if not decided:
        return "No operation had more than one context."
    return _table(
        ("operation", "tag", "evidence", "confidence", "also", "reason"),
        [
            (
                f"`{node.name}`",
                f"`{node.tag}`",
                node.evidence,
                f"{node.confidence:.2f}",
                ", ".join(dict.fromkeys(f"`{c.tag}`" for c in node.contexts)),
                node.reason,
            )
            for node in decided
        ],
    )


def _text(value: object) -> str:
    """One table cell: a bar or a line end would break the table."""
    return "".join(
        "\\|" if c == "|" else c if c.isprintable() else " " for c in str(value)
    ).replace("<", "&lt;")


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(_text(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)
