"""Small models of ONNX's own tests as seeds: seeds.py FOLDER."""

import pathlib
import sys

import onnx

LARGEST = 4096


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    for number, path in enumerate(sorted(data.rglob("*.onnx"))):
        if path.stat().st_size <= LARGEST:
            (folder / f"{number:04}.onnx").write_bytes(path.read_bytes())
    print(f"{len(list(folder.iterdir()))} seeds in {folder}")


main()
