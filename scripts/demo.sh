#!/usr/bin/env bash
# The main job from start to end, with the commands of docs/Tutorial.md: a BERT-tiny made on the spot (random weights, nothing is
# downloaded), exported, traced, tagged, analyzed, outlined, and one layer extracted.
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$HTP_ROOT"
out=build/demo
mkdir -p "$out"

# The command as it is after `pip install .`, from this tree.
htp() {
  printf '\n\033[1m$ htp %s\033[0m\n' "$*"
  PYTHONPATH=python PATH=$HTP_ROOT/build/bin:$PATH .venv/bin/python -m htp "$@"
}

htp export examples/bert_tiny.py -o $out/bert.onnx --graphml --report
htp analyze $out/bert.onnx
htp outline $out/bert.onnx -o $out/bert.outlined.onnx
htp extract $out/bert.onnx encoder.layer.0 -o $out/layer0.onnx
htp validate $out/bert.onnx --check-contamination

printf '\n\033[1mMade in %s:\033[0m\n' "$out"
ls -1s --block-size=1K "$out" | sed 1d
