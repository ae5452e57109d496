"""Runs a model and many graphs of it on the same inputs, and writes what that shows (docs/formats/executed.md)."""

import json

from htp.diff_programs import Program
from htp.executing.calls import observe
from htp.executing.files import compared
from htp.executing.graph import Executable
from htp.notices import Notices


def write(model, example, positional, targets):
    """`targets`: the file to write, by graph. Returns why graphs did not run, which is due to them and not to HTP."""
    args = tuple(example.values()) if positional else ()
    program = Program(type(model).__name__, model, args, {} if positional else dict(example))
    seen = observe(program)
    failed = {}
    for graph, target in targets.items():
        try:
            document = compared(program, seen, Executable(graph), False, Notices())
        except Exception as error:
            failed[graph] = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        target.write_text(json.dumps(document, separators=(",", ":")))
    return failed
