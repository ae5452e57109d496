"""Commands start quickly: nothing is loaded that they do not need. benchmarks/package.py measures the times."""

import subprocess
import sys

import pytest
from conftest import ROOT

import htp
from htp.cli import MODULES, build_parser

HEAVY = (
    "torch",
    "onnx",
    "numpy",
    "onnxruntime",
    "onnx_ir",
    "transformers",
    "ray",
    "rich",
    "asyncio",
)
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from htp.cli import main
try:
    main(sys.argv[2:])
except SystemExit:
    pass
print("LOADED", *sorted(sys.modules))
"""


def loaded(*arguments):
    command = [sys.executable, "-c", CODE, str(ROOT / "python"), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return ended.stdout.rpartition("LOADED")[2].split()


def test_version():
    modules = loaded("--version")
    assert not [name for name in HEAVY if name in modules]
    assert [name for name in modules if name.startswith("htp.")] == [
        "htp.cli",
        "htp.cli.commands",
        "htp.cli.console",
        "htp.errors",
        "htp.version",
    ]


@pytest.mark.parametrize("command", ["analyze", "tag", "outline", "validate"])
def test_commands(command, net, tmp_path):
    """validate uses onnx, which loads numpy."""
    output = () if command in ("analyze", "validate") else ("-o", tmp_path / "out.onnx")
    allowed = {"onnx", "numpy"} if command == "validate" else set()
    assert not {*HEAVY} & {*loaded(command, net, *output)} - allowed


def test_every_command_is_known():
    """Every command is found by its name, and all are in the help."""
    found = build_parser()._subparsers._group_actions[0].choices
    assert set(found) == {name for names in MODULES.values() for name in names}
    for names in MODULES.values():
        for name in names:
            assert name in build_parser(name)._subparsers._group_actions[0].choices


def test_names_of_the_package():
    for name in htp.__all__:
        assert getattr(htp, name) is not None and name in dir(htp)
    assert htp.export.__module__ == "htp.exporting" and callable(htp.export)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        htp.nonsense  # noqa: B018


def test_modules_without_nodes(plain):
    tagged, _, _ = plain
    whole, lean = htp.load(tagged.path), htp.load(tagged.path, nodes=False)
    assert lean.statistics == whole.statistics and lean.modules == whole.modules
    counted: dict = {}
    for node in whole.nodes.values():
        if not node.is_constant:
            counted[node.tag] = counted.get(node.tag, 0) + 1
    assert lean.tag_counts == whole.tag_counts == counted
    assert lean.tree() == whole.tree()
    with pytest.raises(htp.BadInput, match="without its nodes"):
        _ = lean.nodes
