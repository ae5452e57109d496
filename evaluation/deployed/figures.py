"""Tables of deployed forms, from the results of deployed_check.py: one per file."""

import collections

NAMES = ("kept", "removed")
SOURCES = ("trace", "exported", "reference", "executed")


def table(results):
    """A line for each form: exact (nodes of other layers, files refused) by names and source."""
    lines = ["| form | " + " | ".join(f"{n}, {s}" for n in NAMES for s in SOURCES) + " |"]
    lines.append("|---" * (1 + len(NAMES) * len(SOURCES)) + "|")
    order = [*dict.fromkeys(r["form"] for r in results), "all"]
    for form in order:
        cells = []
        for names in NAMES:
            for source in SOURCES:
                part = [r for r in results if form in (r["form"], "all")]
                part = [r for r in part if r["names"] == names and r["source"] == source]
                scored, exact, wrong = (
                    sum(r[k] for r in part) for k in ("scored", "exact", "contaminated")
                )
                refused = sum(bool(r["error"]) for r in part)
                notes = [f"{wrong} c"] * bool(wrong) + [f"{refused} r"] * bool(refused)
                share = f"{100 * exact / scored:.2f}" if scored else "-"
                cells.append(share + (f" ({', '.join(notes)})" if notes else ""))
        lines.append(f"| {form} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def untrained(results):
    """The requirement for files without names whose layers have equal norms and biases: a line, and whether it holds."""
    part = [r for r in results if r["names"] == "removed"]
    scored, exact, wrong = (sum(r[k] for r in part) for k in ("scored", "exact", "contaminated"))
    refused = sum(bool(r["error"]) for r in part)
    holds = bool(scored) and exact >= 0.97 * scored and wrong * 500 <= scored and not refused
    line = (
        f"untrained, names removed: {exact} of {scored} nodes exact (at least 97 %), {wrong} of other layers "
        f"(at most 1 in 500), {refused} of {len(part)} files refused (none): {'holds' if holds else 'MISSED'}"
    )
    return line, holds


def calibration(results):
    bins = collections.defaultdict(lambda: [0, 0, 0.0])
    for result in results:
        for confidence, right in result["answers"]:
            entry = bins[min(9, int(confidence * 10))]
            entry[0] += 1
            entry[1] += right
            entry[2] += confidence
    lines = ["| confidence | answers | said | right |", "|---|---|---|---|"]
    for number, (count, right, said) in sorted(bins.items()):
        span = f"{number / 10:.1f} to {(number + 1) / 10:.1f}"
        lines.append(f"| {span} | {count} | {said / count:.3f} | {right / count:.3f} |")
    return "\n".join(lines)
