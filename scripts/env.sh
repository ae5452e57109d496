# Sourced by the scripts and evaluated by the Makefile: where things are. Prints nothing.
HTP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HTP_VENV=$HTP_ROOT/.venv
HTP_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/htp

HTP_ONNX_VERSION=1.23.2
HTP_ONNX_SHA256=008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8
# Static, position independent (plugins link it), with ai.onnx.ml, against Debian's shared protobuf 3.21:
# the same copy of protobuf as the rest of a process that loads HTP.
HTP_ONNX_FLAGS="-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DBUILD_SHARED_LIBS=OFF -DONNX_ML=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_GEN_PB_TYPE_STUBS=OFF"
htp_key=$(printf '%s' "$HTP_ONNX_FLAGS" | sha256sum | cut -c1-8)
export HTP_ONNX_ROOT=${HTP_ONNX_ROOT:-$HTP_CACHE/onnx-$HTP_ONNX_VERSION-protobuf3.21-$htp_key}
unset htp_key
# What the wheel is linked with, so that it runs where nothing is younger.
export HTP_SYSROOT=${HTP_SYSROOT:-$HTP_CACHE/debian11-glibc2.31}
export HTP_COMPILER_LAUNCHER=${HTP_COMPILER_LAUNCHER-$(command -v ccache || true)}
# A clone in another folder finds the same objects in the cache.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$HTP_ROOT} CCACHE_NOHASHDIR=1
