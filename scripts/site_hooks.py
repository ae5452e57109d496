"""Hooks of mkdocs for `make site`: adds pages from outside docs/, and pages generated from the package itself (the help of
every command and the docstrings of every public name)."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Pages of the project itself, which lie at its root.
OUTSIDE = ("CONTRIBUTING.md", "RELEASING.md", "CHANGELOG.md")


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    pages = {name: (ROOT / name).read_text(encoding="utf-8") for name in OUTSIDE}
    pages |= {"Commands.md": commands_page(), "Python.md": python_page()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=at_root(text)))
    return files


def on_page_markdown(text: str, **_: Any) -> str:
    """Redirects links out of docs/ to the pages that were added; links to folders and sources become plain text."""
    for name in OUTSIDE:
        text = text.replace(f"](../{name})", f"]({name})")
    return re.sub(r"\[([^\]]+)\]\((?:formats/|\.\./[^)]*)\)", r"\1", text)


def at_root(text: str) -> str:
    """Rewrites the links of a page in the project's root, as seen from docs/."""
    return text.replace("](docs/", "](")


def commands_page() -> str:
    """The help of every command."""
    sys.path.insert(0, str(ROOT / "python"))
    from htp.cli import MODULES, build_parser

    lines = ["# Commands", "What `htp COMMAND --help` prints.", ""]
    parser = build_parser()
    found: dict[str, Any] = next(a.choices for a in parser._actions if isinstance(a.choices, dict))
    for name in (name for names in MODULES.values() for name in names):
        command = found[name]
        command.prog = f"htp {name}"
        command.formatter_class = _wide(command.formatter_class)
        lines += [f"## htp {name}", "```text", command.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def _wide(base: Any) -> Any:
    """A help formatter with a fixed width, so that the site does not depend on the terminal it is built in."""
    return lambda prog: base(prog, width=110)


def python_page() -> str:
    """Signatures and docstrings of all public names."""
    sys.path.insert(0, str(ROOT / "python"))
    import htp

    lines = ["# Python", "Everything that `import htp` has, from the docstrings.", ""]
    names = [name for name in htp.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isroutine(getattr(htp, name))]
    for title, group in (
        ("Functions", functions),
        ("Classes", [name for name in names if name not in functions]),
    ):
        lines += [f"## {title}", ""]
        for name in sorted(group, key=str.lower):
            lines += _described(name, getattr(htp, name))
    return "\n".join(lines)


def _described(name: str, value: Any) -> list[str]:
    lines = [f"### {name}", ""]
    if not (isinstance(value, type) and issubclass(value, Exception)):
        lines += ["```python", f"{name}{_signature(value)}", "```", ""]
    lines += [inspect.getdoc(value) or "", ""]
    if isinstance(value, type):
        for part, member in vars(value).items():
            public = not part.startswith("_") and (
                inspect.isfunction(member) or isinstance(member, property)
            )
            text = inspect.getdoc(member) if public else None
            if text:
                call = _signature(member) if inspect.isfunction(member) else ""
                lines += [f"- `{part}{call}`: {' '.join(text.split())}"]
        lines.append("")
    return lines


def _signature(value: Any) -> str:
    try:
        return re.sub(r"<factory>|<object object at [^>]*>", "…", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return ""
