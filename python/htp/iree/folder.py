"""Reads model.json in a folder that htp-onnx wrote for IREE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import BadInput

MANIFEST = "model.json"


def read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; 'htp compile MODEL -o FOLDER' makes one")
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f"{folder} contains no compiled model ({MANIFEST} is missing); 'htp compile' makes one"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder / MANIFEST}: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != "htp-iree":
        raise BadInput(f"{folder / MANIFEST} does not describe a model for IREE")
    if manifest.get("version") != 1:
        raise BadInput(f"{folder / MANIFEST} has version {manifest.get('version')!r}, expected 1")
    return manifest


def programs(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The programs to compile: the layers, then the model around them."""
    return [*manifest["layers"], manifest["main"]]
