"""Write seeds: seeds.py FOLDER PROGRAMS. Small models from ONNX's own tests; random models with a hierarchy, plain, tagged and outlined; the
traces of the tests; and inputs that once caused trouble."""

import pathlib
import subprocess
import sys

import onnx
from random_models import random_model

LARGEST = 8192
RANDOM = 40
HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"


def write(folder: pathlib.Path, contents: list[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    small = [data for data in contents if len(data) <= LARGEST]
    for number, data in enumerate(small):
        (folder / f"{number:04}").write_bytes(data)
    print(f"{len(small)} seeds in {folder}")


def with_hierarchy(programs: pathlib.Path, work: pathlib.Path) -> list[bytes]:
    """The smallest of many random models, in all three forms."""
    work.mkdir(parents=True, exist_ok=True)
    models = sorted(
        (random_model(f"seed/{i}").SerializeToString() for i in range(10 * RANDOM)), key=len
    )
    found = []
    for model in models[:RANDOM]:
        plain, tagged, outlined = (work / f"{n}.onnx" for n in ("plain", "tagged", "outlined"))
        plain.write_bytes(model)
        subprocess.run([programs / "htp-onnx", plain, "--htp-tag", "-o", tagged], check=True)
        command = [programs / "htp-onnx", tagged, "--htp-outline=min-ops=1", "-o", outlined]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        found += [path.read_bytes() for path in (plain, tagged, outlined)]
    return found


def main() -> None:
    folder, programs = map(pathlib.Path, sys.argv[1:])
    plain = [path.read_bytes() for path in sorted(DATA.rglob("*.onnx"))]
    past = [path.read_bytes() for path in sorted((HERE / "past").glob("*.onnx"))]
    hierarchical = with_hierarchy(programs, folder / "work")
    for target in ("import", "mlir", "pipeline"):
        write(folder / target, [*past, *hierarchical, *plain])
    traces = sorted((HERE.parent / "test").rglob("*.trace.json"))
    write(folder / "trace", [path.read_bytes() for path in traces])


main()
