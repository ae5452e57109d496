#!/usr/bin/env bash
# Set up everything HTP needs, from a bare Debian 12 with git, g++, cmake and Python 3.11: Debian packages,
# .venv with pinned versions, Debian 11's C library for the wheel, ONNX C++. Skips what is there, so it can run before every build.
set -euo pipefail
source "$(dirname "$0")/env.sh"
cd "$HTP_ROOT"

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

debian_packages() {
  local wanted missing=()
  wanted=$(sed 's/#.*//' scripts/packages.txt)
  # Debian's python3 comes without venv; other builds of Python have it.
  python3 -c 'import ensurepip, venv' 2>/dev/null || wanted+=" python3-venv"
  for package in $wanted; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "needs apt-get (Debian 12), or these packages in another way: ${missing[*]}"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
  say "Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

python_packages() {
  local stamp
  stamp=$HTP_VENV/.htp-$(cat requirements.txt constraints.txt | sha256sum | cut -c1-16)
  [ ! -e "$stamp" ] || return 0
  python3 -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || die "needs Python 3.11 or newer, found $(python3 -V)"
  [ -x "$HTP_VENV/bin/python" ] || { say "Python: a virtual environment in .venv"; python3 -m venv "$HTP_VENV"; }
  local pip=("$HTP_VENV/bin/python" -m pip --disable-pip-version-check install)
  say "Python: PyTorch (for LibTorch and the tests)"
  "${pip[@]}" -c constraints.txt torch
  say "Python: everything else"
  "${pip[@]}" -c constraints.txt -r requirements.txt
  rm -f "$HTP_VENV"/.htp-*
  touch "$stamp"
}

# What builds and checks the page of `htp view`. The page itself is in the repository: who has no Node.js needs none.
viewer_packages() {
  local stamp
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  [ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || return 0
  stamp=viewer/node_modules/.htp-$(sha256sum viewer/package-lock.json | cut -c1-16)
  [ ! -e "$stamp" ] || return 0
  say "Node.js: what the page of htp view is built with"
  (cd viewer && npm ci --no-audit --no-fund --loglevel=error) && touch "$stamp" ||
    printf 'warning: the packages of viewer/ could not be installed: its tests will be skipped\n' >&2
}

# What the wheel is linked with. Nothing else needs it.
sysroot() {
  [ ! -e "$HTP_SYSROOT/lib" ] || return 0
  say "Debian 11's C library, which the wheel is linked with: kept in $HTP_SYSROOT"
  scripts/build-sysroot.sh ||
    printf 'warning: Debian 11'"'"'s C library could not be had: the wheel cannot be made (make wheel, and its test)\n' >&2
}

debian_packages
python_packages
viewer_packages
sysroot
[ -e "$HTP_ONNX_ROOT/lib/cmake/ONNX/ONNXConfig.cmake" ] || {
  say "ONNX C++ $HTP_ONNX_VERSION: built once (about 5 minutes on 2 cores), kept in $HTP_ONNX_ROOT"
  scripts/build-onnx.sh
}
