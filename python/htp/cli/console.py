"""Output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class Console:
    def __init__(self, *, json: bool, quiet: bool) -> None:
        self.json, self.quiet = json, quiet
        self.warnings: list[str] = []
        self._rich = _rich_console() if sys.stdout.isatty() and not json else None

    def progress(self, text: str) -> None:
        """Announces a step that takes a while; not shown if standard error is piped."""
        if not self.quiet and not self.json and sys.stderr.isatty():
            print(f"htp: {text} …", file=sys.stderr, flush=True)

    def remark(self, text: str) -> None:
        """Reports a side effect, such as a replaced file."""
        if not self.quiet and not self.json:
            print(f"htp: {text}", file=sys.stderr, flush=True)

    def problem(self, text: str) -> None:
        """Reports one of several failures after which work continued."""
        print(f"htp: error: {printable(text)}", file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        if self.json:
            self.result({"error": text})
        print(f"htp: error: {text}", file=sys.stderr)

    def warning(self, text: str) -> None:
        """Shown even if the output is piped; programs find it in the JSON."""
        self.warnings.append(text)
        if not self.quiet:
            print(f"htp: warning: {printable(text)}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Prints text for people; not shown with --json or --quiet."""
        if not self.json and not self.quiet:
            print(text)

    def text(self, text: str) -> None:
        if not self.json:
            print(text)

    def result(self, value: Any) -> None:
        """Prints the result for programs."""
        if self.json:
            json.dump(value, sys.stdout, indent=1, ensure_ascii=False)
            print()

    def flush(self) -> None:
        """For commands that keep running after they print."""
        sys.stdout.flush()

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Prints aligned columns; those with only numbers are aligned right."""
        if self.json:
            return
        cells = [[printable(cell) for cell in row] for row in rows]
        if self._rich is not None:
            self._rich(heads, cells)
            return
        lines = [list(heads), *cells]
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        right = [
            bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(heads))
        ]
        for line in lines:
            shown = [
                cell.rjust(width) if flush else cell.ljust(width)
                for cell, width, flush in zip(line, widths, right)
            ]
            print(f"  {'  '.join(shown)}".rstrip())


def count(number: int, what: str) -> str:
    """ "1 node", "2 nodes"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def in_percent(statistics: Mapping[str, Any]) -> str:
    """The shares of nodes that are tagged, and that are placed below the root (a root tag says nothing)."""
    return (
        f"{100 * statistics['coverage']:.1f} % tagged, "
        f"{100 * statistics['placed_share']:.1f} % placed below the root"
    )


def fit_line(fit: Mapping[str, Any]) -> str:
    """How well a trace or a reference fits."""
    return (
        f"the {fit['source']} {fit['verdict']}: {fit['parameters_found']} of {fit['parameters']} "
        f"parameters found, {fit['nodes_explained']} of {fit['nodes']} nodes explained, likelihood "
        f"{fit['likelihood']:.2f} (about {fit['likelihood_of_fitting']:.1f} where it fits)"
    )


def printable(value: object) -> str:
    """Escapes control characters: names may contain anything, and a terminal must not act on it."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02X}" for c in str(value))


def _is_number(text: str) -> bool:
    try:
        float(text.removeprefix("≥ ").removesuffix(" %").rstrip(" kMGT").replace("?", "0"))
    except ValueError:
        return False
    return True


def _rich_console() -> Any:
    """A function that prints tables with rich, or None if rich is not installed."""
    try:
        from rich.console import Console as RichConsole
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return None
    console = RichConsole()

    def show(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for i, head in enumerate(heads):
            numbers = bool(rows) and all(_is_number(row[i]) for row in rows)
            table.add_column(head, justify="right" if numbers else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)

    return show
