"""What onnx-mlir's tools make of a model in its own dialect, as far as HTP's notes are concerned.

    as_onnx_mlir.py FILE > PRINTED

As `onnx-mlir-opt --canonicalize --cse --standard-func-return --mlir-print-debuginfo` prints it: constants are at the
beginning of their function, equal ones are one, which then has no location; a constant prints its value and nothing else;
onnx.Return is func.return; the compiler adds attributes of its own to the module.
"""

import re
import sys
from collections import Counter

CONSTANT = re.compile(r"^ *(%\w+) = onnx\.Constant (.*) loc\((.*)\)$")


def function(lines: list[str]) -> list[str]:
    """A function's body, without its first line."""
    found = [match.groups() for line in lines if (match := CONSTANT.match(line))]
    counts = Counter(value for _, value, _ in found)
    first: dict[str, str] = {}
    renamed, constants = {}, []
    for name, value, loc in found:
        if value in first:
            renamed[name] = first[value]
            continue
        first[value] = name
        loc = loc if counts[value] == 1 else "unknown"
        constants.insert(0, f"    {name} = onnx.Constant {value} loc({loc})")
    rest = [line for line in lines if not CONSTANT.match(line)]
    rest = [re.sub(r"%\w+", lambda m: renamed.get(m[0], m[0]), line) for line in rest]
    return constants + [re.sub(r"^( *)onnx\.Return", r"\1return", line) for line in rest]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read().splitlines()
    out: list[str] = []
    body: list[str] | None = None
    for line in text:
        if line.startswith("  func.func"):
            out.append(line)
            body = []
        elif body is not None and line.startswith("  }"):
            out += [*function(body), line]
            body = None
        elif body is not None:
            body.append(line)
        else:
            out.append(
                line.replace(
                    "module attributes {",
                    'module attributes {"onnx-mlir.symbol-postfix" = "model", ',
                    1,
                )
            )
    print("\n".join(out))


main()
