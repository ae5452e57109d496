#!/usr/bin/env python3
"""Run the project's test suites and checks, and end with one line: N passed, N failed.

    run_tests.py [--build build] [SUITE ...]        (default: all except clang-tidy, which `make lint` runs)

Every suite reports through JUnit XML, so the counts are the runners' own. A check (a formatter, a linter)
counts as one test. A suite that runs no test counts as failed: a typo in a path must not look like success.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0


def tracked(*patterns: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [f for f in listing.stdout.splitlines() if (ROOT / f).exists()]


def run(command: list[str | Path], **env: str) -> int:
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **env}).returncode


def read_junit(report: Path, status: int) -> Count:
    """The counts of a JUnit report; a runner that fails without a failing test counts as one failure."""
    if not report.exists():
        print(f"error: no test ran: {report.name} was not written")
        return Count(failed=1)
    count = Count()
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            count.skipped += 1
        else:
            count.passed += 1
    if count.passed + count.failed == 0:
        print("error: no test ran")
        count.failed += 1
    elif status and not count.failed:
        print(f"error: the test runner ended with exit code {status}")
        count.failed += 1
    return count


def junit(command: list[str | Path], report: Path, **env: str) -> Count:
    report.unlink(missing_ok=True)
    return read_junit(report, run(command, **env))


def check(*commands: list[str | Path]) -> Count:
    failed = any([run(c) for c in commands])
    return Count(failed=1) if failed else Count(passed=1)


def suites(build: Path) -> dict:
    reports = build / "test-reports"
    reports.mkdir(parents=True, exist_ok=True)
    cpp = tracked("*.cpp", "*.h")
    jobs = str(os.cpu_count())

    def pytest(name: str, folder: str) -> Count:
        report = reports / f"{name}.xml"
        command: list[str | Path] = [
            BIN / "python",
            "-m",
            "pytest",
            "-q",
            f"--junitxml={report}",
            folder,
        ]
        return junit(command, report, HTP_BUILD=str(build))

    return {
        "format": lambda: check(
            ["clang-format-22", "--dry-run", "--Werror", *cpp],
            [BIN / "ruff", "format", "--check", "--quiet", "."],
        ),
        "ruff": lambda: check([BIN / "ruff", "check", "--quiet", "."]),
        "mypy": lambda: check([BIN / "mypy"]),
        "docs": lambda: check([ROOT / "scripts/docs.sh", "--check"]),
        "layers": lambda: check([BIN / "python", ROOT / "scripts/check_layers.py"]),
        "unit": lambda: junit(
            [
                BIN / "ctest",
                "--test-dir",
                build,
                "--output-on-failure",
                "--parallel",
                jobs,
                "--output-junit",
                reports / "unit.xml",
                "--quiet",
            ],
            reports / "unit.xml",
        ),
        "lit": lambda: junit(
            [
                BIN / "lit",
                "--succinct",
                "--order=smart",
                "--xunit-xml-output",
                reports / "lit.xml",
                build / "test",
            ],
            reports / "lit.xml",
        ),
        "python": lambda: pytest("python", "python/tests"),
        "evaluation": lambda: pytest("evaluation", "evaluation/tests"),
        "tidy": lambda: check([BIN / "python", ROOT / "scripts/tidy.py", "--build", build]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=Path)
    parser.add_argument("suites", nargs="*")
    args = parser.parse_args()
    known = suites((ROOT / args.build).resolve())
    for name in args.suites:
        if name not in known:
            parser.error(f"no suite '{name}'; there are: {', '.join(known)}")

    total, rows = Count(), []
    for name in args.suites or [n for n in known if n != "tidy"]:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        count = known[name]()
        rows.append((name, count, time.monotonic() - start))
        total = Count(*(a + b for a, b in zip(vars(total).values(), vars(count).values())))
    print()
    for name, count, seconds in rows:
        skipped = f" {count.skipped:5} skipped" if count.skipped else ""
        print(
            f"  {name:8} {count.passed:6} passed {count.failed:5} failed{skipped}   {seconds:6.1f} s"
        )
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"\n{total.passed} passed, {total.failed} failed{skipped}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
