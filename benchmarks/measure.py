"""Measures processes, and prints the table of results."""

import dataclasses
import os
import re
import subprocess
import sys

MB = 1_000_000


@dataclasses.dataclass
class Run:
    """The least time and the highest memory of a command's runs."""

    cpu: float = float("inf")
    memory: int = 0


def execute(command):
    """One run: seconds of all processors, and the highest resident set in bytes."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def compare(commands, rounds, prepare=lambda: None):
    """Runs the commands (by name) alternately, so that a busy moment affects all of them."""
    best = {name: Run() for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            prepare()
            run, known = execute(command), best[name]
            best[name] = Run(
                min(known.cpu, run.cpu),
                max(known.memory, run.memory),
            )
    return best


@dataclasses.dataclass
class Phases:
    """Seconds that htp-opt took to read, to run passes and to write."""

    read: float
    passes: float
    write: float


def phases(command, only=()):
    """The times of one run according to --mlir-timing, for all passes or only these."""
    result = subprocess.run([*map(str, command), "--mlir-timing"], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{result.stderr}")
    rows = re.findall(r"^ +([\d.]+) \( *[\d.]+%\) {2}(\w+)$", result.stderr, re.M)
    seconds = {name: float(value) for value, name in rows}
    read, write = seconds["Read"], seconds["Write"]
    passes = sum(map(seconds.get, only)) if only else seconds["Total"] - read - write
    return Phases(read, passes, write)


def in_turns(commands, only=()):
    """Runs commands on models of several sizes (by number of nodes), alternately.

    The same number of nodes goes through each command, evenly over the time: a small model has no
    better chance of a quiet moment than a large one.
    """
    largest = max(commands)
    turns = [((turn + 0.5) * size, size) for size in commands for turn in range(largest // size)]
    runs = {size: [] for size in commands}
    for _, size in sorted(turns):
        runs[size].append(phases(commands[size], only))
    return runs


@dataclasses.dataclass
class Figure:
    """A measured figure, its limit, and the yardstick from the same run."""

    what: str
    value: float
    limit: float
    unit: str
    beside: str = ""

    @property
    def holds(self):
        return self.value <= self.limit


def show(value, unit):
    return f"{value:.2f} {unit}" if value < 100 else f"{value:.0f} {unit}"


def table(figures):
    """The figures as Markdown, aligned so that they are readable in a terminal as well."""
    rows = [["", "measured", "limit", "of limit", "", "beside"]]
    for figure in figures:
        rows.append(
            [
                figure.what,
                show(figure.value, figure.unit),
                show(figure.limit, figure.unit),
                f"{figure.value / figure.limit:.0%}",
                "ok" if figure.holds else "MISSED",
                figure.beside,
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = (1, 2, 3)

    def line(row):
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        return ("| " + " | ".join(cells) + " |").rstrip()

    rule = [
        "-" * (width - 1) + ":" if column in right else "-" * width
        for column, width in enumerate(widths)
    ]
    return "\n".join([line(rows[0]), line(rule), *map(line, rows[1:])])
