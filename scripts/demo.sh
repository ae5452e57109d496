#!/usr/bin/env bash
# The main job from start to end, with the commands of docs/Tutorial.md: a BERT-tiny made on the spot (random weights, nothing is
# downloaded) is exported, traced, tagged, analyzed, checked and outlined, and one layer of it extracted.
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$HTP_ROOT"
rm -rf build/demo
mkdir -p build/demo
cd build/demo

# The command as it is after `pip install .`, from this tree.
htp() {
  printf '\n\033[1m$ htp %s\033[0m\n' "$*"
  PYTHONPATH=$HTP_ROOT/python "$HTP_VENV/bin/python" -m htp "$@"
}

htp export "$HTP_ROOT/examples/transformer.py" -o bert.onnx --exporter torchscript --graphml --report
htp analyze bert.onnx
htp validate bert.onnx --check-contamination
htp outline bert.onnx -o bert.outlined.onnx
htp validate bert.outlined.onnx --numeric bert.onnx
htp extract bert.onnx encoder.layer.0 -o layer.onnx

printf '\n\033[1mMade in build/demo:\033[0m\n'
while read -r file what; do
  [ ! -e "$file" ] || printf '  %-22s %8s KB  %s\n' "$file" "$(du -k "$file" | cut -f1)" "$what"
done <<'FILES'
bert.onnx              the model, every node with its module in metadata_props
bert.trace.json        which module ran which operation, as PyTorch executed it
bert.dag.json          the graph of every module
bert.ops.json          every node and initializer: tag, evidence, confidence
bert.graphml           the same for graph tools
bert.report.md         a report for people
bert.outlined.onnx     one function for every module, equal layers shared
layer.onnx             encoder.layer.0 as a model of its own
FILES
echo "Next: docs/Tutorial.md"
