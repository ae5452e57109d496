"""Writes a profile by module in the formats of other viewers."""

from __future__ import annotations

import csv
import io
from typing import Any

from .profiling import KernelTime, Profile


def _labels(profile: Profile, kernel: KernelTime) -> list[str]:
    """The frames of a kernel: its modules, outermost first."""
    if kernel.module is None:
        return ["(no module)"]
    labels = []
    for path in profile.stack(kernel.module):
        module = profile.modules[path]
        labels.append(f"{path}: {module.class_name}" if path else module.class_name)
    return labels


def speedscope(profile: Profile) -> dict[str, Any]:
    """For https://speedscope.app: one run, on average. Its "time order" view shows the run, "left heavy" merges
    equal modules."""
    frames: dict[str, int] = {}
    samples, weights = [], []
    for kernel in profile.kernels:
        stack = [*_labels(profile, kernel), f"{kernel.op_type or 'node'} {kernel.name}"]
        samples.append([frames.setdefault(label, len(frames)) for label in stack])
        weights.append(kernel.microseconds)
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": f"{profile.file}, {profile.source}",
        "exporter": "htp",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": label} for label in frames]},
        "profiles": [
            {
                "type": "sampled",
                "name": "one run, mean",
                "unit": "microseconds",
                "startValue": 0,
                "endValue": profile.node_microseconds,
                "samples": samples,
                "weights": weights,
            }
        ],
    }


def perfetto(profile: Profile) -> dict[str, Any]:
    """Chrome's trace format, for https://ui.perfetto.dev: one run, on average, with its kernels in sequence
    below the modules that they came from."""
    thread = {"pid": 1, "tid": 1}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", **thread, "args": {"name": profile.file}},
        {"ph": "M", "name": "thread_name", **thread, "args": {"name": "one run, mean"}},
    ]
    open_: list[tuple[str, dict[str, Any]]] = []  # modules that have not ended yet
    now = 0.0

    def close(depth: int) -> None:
        while len(open_) > depth:
            event = open_.pop()[1]
            event["dur"] = now - event["ts"]

    for kernel in profile.kernels:
        labels = _labels(profile, kernel)
        same = 0
        while same < min(len(open_), len(labels)) and open_[same][0] == labels[same]:
            same += 1
        close(same)
        for label in labels[same:]:
            event = {"ph": "X", "cat": "module", "name": label, "ts": now, **thread}
            events.append(event)
            open_.append((label, event))
        events.append(
            {
                "ph": "X",
                "cat": "kernel",
                "name": kernel.op_type or kernel.name,
                "ts": now,
                "dur": kernel.microseconds,
                **thread,
                "args": {"node": kernel.name, "module": kernel.module, "calls": kernel.calls},
            }
        )
        now += kernel.microseconds
    close(0)
    return {"displayTimeUnit": "ms", "traceEvents": events}


def table(profile: Profile) -> str:
    """CSV with a line for every module that ran."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["module", "class", "tag", "self_us", "total_us", "share", "self_calls", "calls"]
    )
    for m in profile.modules.values():
        if m.calls:
            writer.writerow(
                [
                    m.path,
                    m.class_name,
                    m.tag,
                    f"{m.self_microseconds:.3f}",
                    f"{m.total_microseconds:.3f}",
                    f"{m.share:.6f}",
                    f"{m.self_calls:g}",
                    f"{m.calls:g}",
                ]
            )
    unknown = sum(k.microseconds for k in profile.kernels if k.module is None)
    if unknown:
        share = unknown / profile.node_microseconds
        writer.writerow(
            ["(no module)", "", "", f"{unknown:.3f}", f"{unknown:.3f}", f"{share:.6f}", "", ""]
        )
    return text.getvalue()
