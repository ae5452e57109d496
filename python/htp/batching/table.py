"""The results for all models, as tables for programs and a page for people. Equal results give equal bytes,
wherever they were made: times are only in the records."""

from __future__ import annotations

import csv
import html
import io
from typing import Any

from .items import Item, Refused
from .store import Store
from .work import FIGURES

COLUMNS = ("name", "status", *FIGURES, "source", "verdict", "warnings", "error", "model", "trace")
_PERCENT = ("coverage", "placed_share")


def write(
    records: list[dict[str, Any]],
    refused: list[Refused],
    items: list[Item],
    store: Store,
    notes: list[str],
) -> list[str]:
    """Writes table.csv, table.parquet if pyarrow is installed, and index.html. Returns their names."""
    sources = {item.name: item for item in items}
    rows = [_row(record, sources[record["name"]]) for record in records]
    rows += [{"name": r.where, "status": "refused", "error": r.why} for r in refused]
    made = {"table.csv": _csv(rows), "index.html": _page(rows)}
    if (parquet := _parquet(rows)) is not None:
        made["table.parquet"] = parquet
    else:
        notes.append("pyarrow is not installed: the table is written only as CSV")
    for name, data in made.items():
        store.write(name, data)
    return list(made)


def _row(record: dict[str, Any], item: Item) -> dict[str, Any]:
    row = {"name": record["name"], "status": record["status"], **record["figures"]}
    row |= {"warnings": "; ".join(record["warnings"]) or None, "error": record["error"] or None}
    return row | {"model": item.model, "trace": item.trace or item.reference}


def _csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _parquet(rows: list[dict[str, Any]]) -> bytes | None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return None
    shares = {"coverage", "placed_share", "confidence"}
    types = {name: pyarrow.float64() if name in shares else pyarrow.int64() for name in FIGURES}
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in COLUMNS])
    table = pyarrow.Table.from_pylist([{c: row.get(c) for c in COLUMNS} for row in rows], schema)
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


_STYLE = """body { font: 14px system-ui, sans-serif; margin: 2em; } table { border-collapse: collapse; }
th, td { padding: .25em .7em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } tr.bad td { background: #fff0ee; }
td.error { white-space: pre-wrap; max-width: 50em; } caption { text-align: left; padding: 1em 0; }"""


def _page(rows: list[dict[str, Any]]) -> bytes:
    shown = ("nodes", "modules", *_PERCENT, "confidence", "contaminated", "verdict")
    heads = ("model", *(name.replace("_share", "") for name in shown), "warnings and errors")
    lines = [
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>htp batch</title>',
        f"<style>{_STYLE}</style>\n<table>",
        f"<caption>{len(rows)} models, {sum(r['status'] != 'ok' for r in rows)} failed</caption>",
        "<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>",
    ]
    for row in sorted(rows, key=lambda row: row["status"] == "ok"):  # failures first
        ok = row["status"] == "ok"
        name = html.escape(row["name"])
        cells = [
            f'<td><a href="{html.escape(row["name"])}">{name}</a></td>'
            if ok
            else f"<td>{name}</td>"
        ]
        cells += [f'<td class="number">{_figure(key, row.get(key))}</td>' for key in shown]
        said = "\n".join(row[key] for key in ("error", "warnings") if row.get(key))
        cells.append(f'<td class="error">{html.escape(said)}</td>')
        lines.append(f"<tr{'' if ok else ' class=bad'}>{''.join(cells)}</tr>")
    return ("\n".join([*lines, "</table>\n</html>\n"])).encode("utf-8", "backslashreplace")


def _figure(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _PERCENT:
        return f"{100 * value:.1f} %"
    return f"{value:.3f}" if isinstance(value, float) else html.escape(str(value))
