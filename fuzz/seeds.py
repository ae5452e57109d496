"""Seeds: seeds.py FOLDER. Small models of ONNX's own tests for the import, the traces of the tests for the trace reader."""

import pathlib
import sys

import onnx

LARGEST = 4096
DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
TESTS = pathlib.Path(__file__).resolve().parent.parent / "test"
SEEDS = {"import": sorted(DATA.rglob("*.onnx")), "trace": sorted(TESTS.rglob("*.trace.json"))}


def main():
    for target, files in SEEDS.items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(files):
            if path.stat().st_size <= LARGEST:
                (folder / f"{number:04}{path.suffix}").write_bytes(path.read_bytes())
        print(f"{len(list(folder.iterdir()))} seeds in {folder}")


main()
