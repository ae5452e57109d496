"""Commands that check models, for people and for CI: validate, compare."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..aspects import ASPECTS
from ..errors import BadInput, HTPError
from ..files import check_writable
from ..junit import Case, write
from .commands import Commands
from .console import Console, count, printable

# Everything else that a command needs is loaded when it runs.
if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..validation import Check

VALIDATE = """\
Check the model and its tags

Checks that the file is valid ONNX, that every node has a tag, and that the tags agree with the module tree in the
file. Exit code 1 if a check fails. --junit writes a report that CI systems show test by test.

examples:
  htp validate bert.onnx
  htp validate models/*.onnx --junit report.xml
  htp validate bert.onnx --check-contamination
  htp validate bert.outlined.onnx --numeric bert.onnx
"""
COMPARE = """\
Show what differs between two tagged models, module by module

Compares modules and their classes, operations, attributes, parameters (types, shapes, values), constants, inputs and
outputs, and the tags of nodes with the same name. Exit code 1 if they differ. Different exporters produce the same
modules and parameters but different operations; use --only to compare just the former.

For CI, write a baseline of what a model is made of, and compare later exports with it.

examples:
  htp compare before.onnx after.onnx
  htp compare torchscript.onnx dynamo.onnx --only modules,parameters
  htp compare model.onnx --write-baseline baseline.json
  htp compare model.onnx --baseline baseline.json --junit report.xml
"""


def register(commands: Commands) -> None:
    parser = commands.add("validate", VALIDATE, run_validate)
    parser.add_argument("models", metavar="MODEL", nargs="+", help="a tagged model")
    parser.add_argument(
        "--check-contamination",
        action="store_true",
        help="check that no operation carries the tag of another layer",
    )
    parser.add_argument(
        "--numeric",
        metavar="OTHER",
        help="check that the outputs in ONNX Runtime equal those of this model",
    )
    _add_junit(parser)

    parser = commands.add("compare", COMPARE, run_compare)
    parser.add_argument("before", metavar="MODEL", help="a tagged model, or its .ops.json")
    parser.add_argument("after", metavar="OTHER", nargs="?", help="another tagged model")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare MODEL with this: a baseline, or a tagged model"
    )
    parser.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="write what MODEL is made of as a JSON baseline",
    )
    parser.add_argument("--only", metavar="A,B", help=f"compare only these of {', '.join(ASPECTS)}")
    _add_junit(parser)


def _add_junit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML, for CI")


def write_report(suites: Mapping[str, Sequence[Case]], target: str, console: Console) -> None:
    for file in write(suites, Path(target)):
        console.remark(f"replaced {printable(file)}")


def run_validate(options: argparse.Namespace, console: Console) -> int:
    many = len(options.models) > 1
    if many and options.numeric:
        raise BadInput("--numeric works with a single MODEL only")
    if options.junit:
        check_writable(Path(options.junit))
    found: dict[str, list[Check]] = {}
    for model in options.models:
        found[model] = checked(model, options, console, many)
        if many:
            console.text(f"{printable(model)}: {_verdict(found[model])}")
        show_checks(found[model], console, "  " if many else "")
    if options.junit:
        suites = {
            model: [Case(check.name, check.problems, check.skipped) for check in checks]
            for model, checks in found.items()
        }
        write_report(suites, options.junit, console)
    good = sum(all(check.ok for check in checks) for checks in found.values())
    if many:
        console.text(f"{good} of {count(len(found), 'model')} valid")
    results = [{"file": model, **_as_json(checks)} for model, checks in found.items()]
    ok = good == len(found)
    console.result({"valid": ok, "models": results} if many else _as_json(checks_of_one(found)))
    return 0 if ok else 1


def checks_of_one(found: Mapping[str, list[Check]]) -> list[Check]:
    (checks,) = found.values()
    return checks


def _verdict(checks: Sequence[Check]) -> str:
    return "ok" if all(check.ok for check in checks) else "failed"


def _as_json(checks: Sequence[Check]) -> dict[str, Any]:
    return {
        "valid": all(check.ok for check in checks),
        "checks": [check.as_json() for check in checks],
    }


def checked(model: str, options: argparse.Namespace, console: Console, many: bool) -> list[Check]:
    """Checks a model. If there are several, one that cannot be read counts as a failed check."""
    from ..validation import Check, validate

    console.progress(f"checking {model}")
    try:
        return validate(model, contamination=options.check_contamination, numeric=options.numeric)
    except HTPError as error:
        if not many and not options.junit:
            raise
        return [Check("file", [str(error)])]


def show_checks(checks: Sequence[Check], console: Console, indent: str) -> None:
    for check in checks:
        if indent and check.ok:
            continue
        state = f"skipped: {check.skipped}" if check.skipped else "ok" if check.ok else "failed"
        console.text(f"{indent}{check.name:14} {state}")
        for problem in check.problems:
            console.text(f"{indent}  {printable(problem)}")


def run_compare(options: argparse.Namespace, console: Console) -> int:
    chosen = [options.after, options.baseline, options.write_baseline]
    if sum(option is not None for option in chosen) != 1:
        raise BadInput(
            "compare MODEL with OTHER, with --baseline FILE, or use --write-baseline FILE"
        )
    if options.write_baseline:
        return write_baseline(Path(options.before), Path(options.write_baseline), console)
    before, after = options.before, options.after
    if options.baseline:
        before, after = options.baseline, options.before
    if options.junit:
        check_writable(Path(options.junit))
    console.progress(f"reading {before} and {after}")
    from ..comparison import compare

    only = ASPECTS if options.only is None else [n.strip() for n in options.only.split(",")]
    result = compare(before, after, only=only)
    show_differences(result, console)
    if options.junit:
        cases = [
            Case(
                name,
                [
                    f"{d.module or '(root)'}: {d.what}"
                    for d in result.differences
                    if d.aspect == name
                ],
            )
            for name in only
        ]
        write_report({f"{after} against {before}": cases}, options.junit, console)
    console.result(result.as_json())
    return 0 if result.equal else 1


def write_baseline(model: Path, target: Path, console: Console) -> int:
    from ..comparison import baseline

    replaced = baseline(model, target)
    console.note(f"{printable(target)}: what {printable(model)} is made of")
    for file in replaced:
        console.remark(f"replaced {printable(file)}")
    console.result({"files": [str(target)]})
    return 0


def show_differences(result: Comparison, console: Console) -> None:
    for aspect in ASPECTS:
        found = [d for d in result.differences if d.aspect == aspect]
        if found:
            console.text(f"{count(len(found), 'difference')} in {aspect}:")
            console.table(("module", "difference"), [(d.module or "(root)", d.what) for d in found])
    if result.unknown:
        console.text(f"not compared: {', '.join(result.unknown)}")
    state = "no difference" if result.equal else count(len(result.differences), "difference")
    console.text(
        f"{state} in {count(result.modules, 'module')} that both have; "
        f"{count(result.same, 'node')} with the same name and tag"
    )
