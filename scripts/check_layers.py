#!/usr/bin/env python3
"""Checks which library may include which: fails on an include in the wrong direction.

    check_layers.py [--picture]

A room is a folder of lib/ with its headers in include/HTP/. It may include its own headers and those of the rooms that
ROOMS lists for it; in the picture, those are below it.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TREE = ("Support", "Hierarchy")
IR = (*TREE, "Dialect/HTP", "Analysis")
WRITER = (*IR, "Target/TaggedGraph")

# The lowest first. A room is named by its folder; headers that lie directly in include/HTP/Target belong to the room of
# their name.
ROOMS: dict[str, tuple[str, ...]] = {
    # Plain C++.
    "Support": (),
    "Hierarchy": ("Support",),
    "Weights": ("Support",),
    "Partition": ("Support",),
    "Alignment": ("Support",),
    "Trace": (*TREE, "Alignment"),
    # The IR and its analyses.
    "Dialect/ONNX": ("Support",),
    "Dialect/HTP": TREE,
    "Analysis": (*TREE, "Dialect/HTP"),
    "Dialect/HTP/TransformOps": (*IR,),
    # Files.
    "Target/ONNX": ("Support", "Dialect/ONNX"),
    "Target/TagMetadata": (*IR, "Weights", "Target/ONNX"),
    "Target/IREE": (*IR, "Dialect/ONNX"),
    "Target/TaggedGraph": IR,
    "Target/DAG": WRITER,
    "Target/Figures": WRITER,
    "Target/GraphML": WRITER,
    "Target/OpMetadata": (*WRITER, "Target/Figures"),
    "Target/Page": (*WRITER, "Target/Figures"),
    "Target/Summary": WRITER,
    # Passes.
    "Dialect/ONNX/Transforms": (*TREE, "Dialect/ONNX", "Dialect/HTP", "Target/ONNX"),
    "Transforms": (*IR, "Weights", "Partition", "Alignment", "Trace"),
    "Pipelines": ("Transforms",),
    "Plugin": (
        "Dialect/HTP",
        "Dialect/HTP/TransformOps",
        "Dialect/ONNX",
        "Transforms",
        "Pipelines",
    ),
}
# Programs stand on everything, and nothing stands on them.
ROOMS["Tools"] = tuple(room for room in ROOMS if room != "Plugin")
ROOMS["CAPI"] = (*ROOMS["Tools"], "Tools")

# Of the importer and the exporter the border between tags and files sees two interfaces, and neither protobuf nor ONNX.
ONLY = {("Target/TagMetadata", "Target/ONNX"): {"MetadataSink.h", "MetadataSource.h"}}
# Headers that lie in Target/ itself and are not named after their room.
HOMES = {
    "Target/GraphStatistics.h": "Target/TaggedGraph",
    "Target/MetadataJSON.h": "Target/TaggedGraph",
}

INCLUDE = re.compile(r'^#include "(HTP/[^"]+)"', re.MULTILINE)


def room_of(path: str) -> str | None:
    """The room of a path below lib/ or include/HTP/: the longest name that it begins with."""
    if path in HOMES:
        return HOMES[path]
    names = [r for r in ROOMS if path.startswith(r + "/") or path.removesuffix(".h") == r]
    return max(names, key=len, default=None)


def wrong_includes(file: Path, below: str) -> list[str]:
    name = file.relative_to(ROOT / below).as_posix()
    room = room_of(name)
    if room is None:
        return [f"{below}/{name}: is in no room that {Path(__file__).name} knows"]
    found = []
    for target in INCLUDE.findall(file.read_text()):
        header = target.removeprefix("HTP/")
        if header.endswith(".inc"):
            continue
        other = room_of(header) or "no room"
        allowed = other == room or other in ROOMS[room]
        if allowed and (room, other) in ONLY:
            allowed = Path(header).name in ONLY[room, other]
        if not allowed:
            found.append(f"{below}/{name}: {room} must not include {target} of {other}")
    return found


def picture() -> str:
    lines = []
    for room, below in ROOMS.items():
        direct = [r for r in below if not any(r in ROOMS[o] for o in below)]
        lines.append(f"{room:<20} stands on {', '.join(direct) or 'LLVM'}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", action="store_true", help="print the rooms instead")
    if parser.parse_args().picture:
        print(picture())
        return 0
    wrong = []
    for below in ("include/HTP", "lib"):
        for file in sorted((ROOT / below).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                wrong += wrong_includes(file, below)
    print("\n".join(wrong) or "every include goes the right way")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
