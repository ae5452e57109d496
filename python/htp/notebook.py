"""Shows a tagged model in a notebook: figures, a treemap and the module tree as HTML without scripts, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any

from .figures import short_costs, whole
from .model import TaggedModel
from .records import Module
from .repeats import Repeats

#: At most this many rows of the tree are shown; `htp view` shows more.
_ROWS = 150
_WIDTH, _HEIGHT, _SMALLEST = 760.0, 260.0, 6.0
_COLORS = "#7a9cc6 #e0a458 #82b38a #b790b8 #7fbcb8 #d6c26a #d98880 #a98f7c #8d93c7 #c98fa9".split()
_OTHER = "#b4b8bf"
_CELL = "text-align:right;white-space:nowrap;padding:1px 10px;font-variant-numeric:tabular-nums"


def html(model: TaggedModel) -> str:
    """The HTML of a model. Names only ever become text."""
    s = model.statistics
    parameters, size, adds = short_costs(model.figures.modules[""])
    figures = (
        f"{s['nodes'] - s['constants']} operations of {s['modules']} modules, {parameters} parameters, "
        f"{size}B of weights, {adds} multiply-adds; {100 * s['placed_share']:.1f} % placed, "
        f"mean confidence {s['confidence']:.3f}"
    )
    title = escape(_shown(model.modules[""].class_name or model.path.stem))
    return (
        '<div class="htp-model" style="font-family:system-ui,sans-serif;font-size:13px">'
        f"<p><b>{title}</b> <span>{escape(_shown(model.path.name))}</span><br>{escape(figures)}</p>"
        f"{treemap(model)}"
        f"<details><summary>Modules</summary>{_tree(model)}</details></div>"
    )


def _shown(text: object) -> str:
    """Escapes control characters in names, such as those that reverse the direction of text."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


def _tree(model: TaggedModel) -> str:
    heads = ("module", "path", "nodes", "parameters", "bytes", "multiply-adds", "confidence")
    rows = []
    for branch, _, layers in Repeats(model).tree():
        costs = model.figures.modules[layers.first.path]
        sure = "–" if costs.confidence is None else f"{costs.confidence:.2f}"
        numbers = (str(layers.first.total_nodes), *short_costs(costs), sure)
        lines = branch.replace(" ", "\u00a0")
        rows.append(
            f'<tr><td style="text-align:left;white-space:nowrap">{escape(lines + _shown(layers.label))}</td>'
            f'<td style="text-align:left"><code>{escape(_shown(layers.names("")))}</code></td>'
            + "".join(f'<td style="{_CELL}">{escape(number)}</td>' for number in numbers)
            + "</tr>"
        )
    more = len(rows) - _ROWS
    rest = f"<p>… and {more} more rows: htp.view(model) shows all of them.</p>" if more > 0 else ""
    head = "".join(
        f'<th style="{_CELL if i > 1 else "text-align:left"}">{name}</th>'
        for i, name in enumerate(heads)
    )
    return f"<table style='font-size:12.5px'><thead><tr>{head}</tr></thead><tbody>{''.join(rows[:_ROWS])}</tbody></table>{rest}"


def treemap(model: TaggedModel) -> str:
    """A treemap of the modules by number of operations, as SVG."""
    colors = _colors(model)
    parts = []
    for module, own, x, y, width, height in _cells(model):
        color = colors.get(module.class_name, _OTHER)
        name = _shown(module.path or module.class_name)
        count = module.own_nodes if own else module.total_nodes
        title = f"{name}: {_shown(module.class_name)}, {count} operations"
        label = ""
        if width > 46 and height > 16:
            text = (_shown(module.name) or _shown(module.class_name))[: int(width / 6.6)]
            label = f'<text x="{x + 4:.1f}" y="{y + 12:.1f}" font-size="10.5" fill="#16202c">{escape(text)}</text>'
        parts.append(
            f'<g><title>{escape(title)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="2" fill="{color}" stroke="#fff" stroke-width="1"/>{label}</g>'
        )
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" width="{_WIDTH:.0f}" role="img" '
        f'aria-label="Modules by operations" style="max-width:100%">{"".join(parts)}</svg>'
    )


def _colors(model: TaggedModel) -> dict[str, str]:
    """Colours for the classes with the most operations of their own."""
    counts = Counter[str]()
    for module in model.modules.values():
        counts[module.class_name] += module.own_nodes
    return {name: color for (name, _), color in zip(counts.most_common(), _COLORS)}


_Cell = tuple[Module, bool, float, float, float, float]


def _cells(model: TaggedModel) -> Iterator[_Cell]:
    """The rectangles of the smallest modules that can be told apart. Each module is divided along its longer side,
    in the order of the model."""
    pending = [(model.modules[""], 0.0, 0.0, _WIDTH, _HEIGHT)]
    while pending:
        module, x, y, width, height = pending.pop()
        children = [model.modules[c] for c in module.children if model.modules[c].total_nodes]
        if not children or min(width, height) < _SMALLEST or width * height < 400:
            yield module, False, x, y, width, height
            continue
        parts: list[tuple[Module, bool, int]] = [(c, False, c.total_nodes) for c in children]
        if module.own_nodes:
            parts.append((module, True, module.own_nodes))
        whole_size = sum(size for _, _, size in parts)
        at = 0.0
        for part, own, size in parts:
            share = size / whole_size
            if width >= height:
                place = (x + at * width, y, share * width, height)
            else:
                place = (x, y + at * height, width, share * height)
            at += share
            if own:
                yield part, True, *place
            else:
                pending.append((part, *place))


def module_rows(model: TaggedModel) -> list[dict[str, Any]]:
    """A row for every module, with its costs."""
    rows = []
    for module in model.modules.values():
        costs = model.figures.modules[module.path]
        row = {
            "path": module.path,
            "class": module.class_name,
            "tag": module.tag,
            "calls": module.calls,
            "nodes": module.own_nodes,
            "total_nodes": module.total_nodes,
            **vars(costs),
            "weight_bytes": whole(costs.weight_bytes),
            "total_weight_bytes": whole(costs.total_weight_bytes),
        }
        rows.append({key: value for key, value in row.items() if not isinstance(value, dict)})
    return rows


def node_rows(model: TaggedModel) -> list[dict[str, Any]]:
    """A row for every node except constants."""
    names = "name op_type domain tag scope call evidence confidence reason source".split()
    return [
        {
            **{name: getattr(node, name) for name in names},
            "types": ", ".join(costs.types),
            "multiply_adds": costs.multiply_adds,
            "activation_bytes": costs.activation_bytes,
        }
        for node in model.nodes.values()
        if (costs := model.figures.nodes.get(node.name)) is not None
    ]
