#!/usr/bin/env bash
# Build ONNX C++ from its PyPI source archive and install it into $HTP_ONNX_ROOT (see env.sh). The prefix appears
# only when it is complete: it is installed beside its final name and renamed.
set -euo pipefail
source "$(dirname "$0")/env.sh"

work=$(mktemp -d)
trap 'rm -rf "$work" "$HTP_ONNX_ROOT.part.$$"' EXIT
archive=$work/onnx-$HTP_ONNX_VERSION.tar.gz

# pip reads the metadata of a source archive even when it only downloads it. Without build isolation it does so
# with the scikit-build-core of .venv instead of installing a build environment first.
"$HTP_VENV/bin/python" -m pip --disable-pip-version-check download --no-deps --no-build-isolation \
  --no-binary onnx --dest "$work" "onnx==$HTP_ONNX_VERSION"
echo "$HTP_ONNX_SHA256  $archive" | sha256sum --check --quiet
tar -xzf "$archive" -C "$work"

export CCACHE_BASEDIR=$work # its name is another one each time
cmake=$HTP_VENV/bin/cmake
# shellcheck disable=SC2086 # the flags are words
"$cmake" -S "$work/onnx-$HTP_ONNX_VERSION" -B "$work/build" -G Ninja $HTP_ONNX_FLAGS \
  -DCMAKE_INSTALL_PREFIX="$HTP_ONNX_ROOT" -DCMAKE_CXX_COMPILER_LAUNCHER="$HTP_COMPILER_LAUNCHER" \
  -DPython3_EXECUTABLE="$HTP_VENV/bin/python"
"$cmake" --build "$work/build" --parallel "$(nproc)"
mkdir -p "$(dirname "$HTP_ONNX_ROOT")"
"$cmake" --install "$work/build" --prefix "$HTP_ONNX_ROOT.part.$$" >/dev/null
mv -T "$HTP_ONNX_ROOT.part.$$" "$HTP_ONNX_ROOT" 2>/dev/null || [ -e "$HTP_ONNX_ROOT/lib" ] # another one was faster
