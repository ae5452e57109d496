"""Shared by the evaluation's tests: the location of the programs, and a few models of the corpus, exported once."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "corpus"), str(HERE.parent / "deployed")]

# One of each kind: an encoder, layers that are called twice, a decoder, folded batch norms, plain PyTorch.
SUBSET = {"corpus": ["bert_tiny", "albert", "gpt2", "resnet"], "heldout": ["module_dict", "unet"]}


@pytest.fixture(scope="session")
def build() -> Path:
    return Path(os.environ.get("HTP_BUILD", ROOT / "build"))


@pytest.fixture(scope="session")
def programs(build) -> Path:
    return build / "bin"


@pytest.fixture(scope="session")
def corpora(build) -> dict[str, Path]:
    """Folders of a small part of each set, in the form that `make eval` uses for all of it."""
    import evaluate

    return {
        n: evaluate.exported(n, build / "test-corpus", models, core=True)
        for n, models in SUBSET.items()
    }
