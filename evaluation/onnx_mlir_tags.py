#!/usr/bin/env python3
"""What remains of tags, tree and parameters after a pass through onnx-mlir's own dialect.

    onnx_mlir_tags.py CORPUS [--bin build/bin] [--work FOLDER] [NAME ...]

Each graph of the corpus is tagged with its trace and written by --emit=onnx-mlir; the text is also passed through
test/Target/ONNX/Inputs/as_onnx_mlir.py, which drops what onnx-mlir's passes and printers drop (HTP does not include onnx-mlir).
From both, --htp-attach-hierarchy=from=locations must restore, node by node, the module that the tag named; --htp-verify-tags must
pass; --htp-outline must make as many functions as from the ONNX file (`more`: if it does not); and the trace must find as many
parameters in the text as in the file. The outlined model in strict form must be readable, taggable and verifiable as well.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import onnx

from tagging import FITTING

HERE = Path(__file__).resolve().parent
PRINTER = HERE.parent / "test/Target/ONNX/Inputs/as_onnx_mlir.py"
BACK = ("--htp-attach-hierarchy=from=locations", "--htp-propagate-aux-tags", "--htp-verify-tags")


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:]))[:120]}: {done.stderr.strip()[:300]}")
    return done.stdout


def scopes(path):
    """(operator, module) of every node except constants, in order."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    places = [(n.op_type, {p.key: p.value for p in n.metadata_props}) for n in nodes]
    return [(op, keys.get("htp.scope")) for op, keys in places if op != "Constant"]


def functions(text):
    return len(re.findall(r"^ *func\.func private", text, re.MULTILINE))


def parameters(text):
    found = re.search(r"parameters_found = (\d+)", text)
    return int(found[1]) if found else 0


def check(options, source, trace):
    """A line of figures; raises if something does not hold."""
    htp_opt, work = options.bin / "htp-opt", options.work
    tagged, strict, printed, back = (
        work / name for name in ("tagged.onnx", "strict.mlir", "printed.mlir", "back.onnx")
    )
    run(htp_opt, source, f"--htp-tag=trace={trace}", "-o", tagged)
    expected = scopes(tagged)
    flat = functions(run(htp_opt, tagged, "--htp-outline"))
    named = parameters(run(htp_opt, source, f"--htp-tag=trace={trace}"))
    run(htp_opt, tagged, "--emit=onnx-mlir", "-o", strict)
    printed.write_text(run(sys.executable, PRINTER, strict))
    said = []
    for form in (strict, printed):
        run(htp_opt, form, *BACK, "-o", back)
        got = scopes(back)
        wrong = sum(a != b for a, b in zip(expected, got)) + abs(len(expected) - len(got))
        made = functions(run(htp_opt, form, *BACK, "--htp-outline"))
        found = parameters(run(htp_opt, form, f"--htp-tag=trace={trace}"))
        if wrong:
            raise RuntimeError(f"{form.stem}: {wrong} of {len(expected)} nodes have another module")
        said.append(f"{form.stem} {made} of {flat} functions, {found} of {named} parameters")
    run(htp_opt, tagged, "--onnx-infer-shapes", "--htp-outline", "--emit=onnx-mlir", "-o", strict)
    run(htp_opt, strict, *BACK, "-o", "/dev/null")
    return f"{len(expected)} nodes; {'; '.join(said)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/onnx-mlir-tags")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    good = failed = 0
    for folder in sorted(options.corpus.iterdir()):
        if options.names and folder.name not in options.names:
            continue
        for graph, trace in FITTING.items():
            source = folder / f"{graph}.onnx"
            if not source.exists() or not (folder / trace).exists():
                continue
            try:
                print(
                    f"{folder.name}/{graph}: {check(options, source, folder / trace)}", flush=True
                )
                good += 1
            except RuntimeError as error:
                print(f"{folder.name}/{graph}: {error}", flush=True)
                failed += 1
    print(f"{good} of {good + failed} graphs come back")
    return 1 if failed or not good else 0


if __name__ == "__main__":
    sys.exit(main())
