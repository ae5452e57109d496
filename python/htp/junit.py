"""Writes results of checks as JUnit XML, which CI systems show test by test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .files import Outputs


@dataclass
class Case:
    """One check."""

    name: str
    problems: list[str] = field(default_factory=list)
    skipped: str = ""


def document(suites: Mapping[str, Iterable[Case]]) -> str:
    """JUnit XML with one suite for each thing checked."""
    import xml.etree.ElementTree as ET

    root = ET.Element("testsuites", name="htp")
    for name, cases in suites.items():
        listed = list(cases)
        suite = ET.SubElement(root, "testsuite", name=_text(name), tests=str(len(listed)))
        suite.set("failures", str(sum(bool(case.problems) for case in listed)))
        suite.set("errors", "0")
        suite.set("skipped", str(sum(bool(case.skipped) for case in listed)))
        for case in listed:
            entry = ET.SubElement(suite, "testcase", classname=_text(name), name=case.name)
            if case.problems:
                failure = ET.SubElement(entry, "failure", message=_text(case.problems[0]))
                failure.text = _text("\n".join(case.problems))
            elif case.skipped:
                ET.SubElement(entry, "skipped", message=_text(case.skipped))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _text(text: str) -> str:
    """Escapes control characters, which XML does not allow but names in models may contain."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02X}" for c in text)


def write(suites: Mapping[str, Iterable[Case]], target: Path) -> list[Path]:
    """Writes the file. Returns the files that it replaced."""
    with Outputs(target) as outputs:
        outputs[target].write_text(document(suites), encoding="utf-8")
    return outputs.replaced
