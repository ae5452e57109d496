#!/usr/bin/env bash
# fuzz.sh [SECONDS]: builds the fuzz targets and runs each for a while. A crash
# leaves its input in build-fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -f scripts/env.sh ] || . scripts/env.sh

[ -e build-fuzz/build.ninja ] || .venv/bin/cmake --fresh --preset fuzz
.venv/bin/cmake --build build-fuzz --target htp-import-fuzzer htp-trace-fuzzer
.venv/bin/python fuzz/seeds.py build-fuzz/seeds
mkdir -p build-fuzz/crashes
# libMLIR is not instrumented: containers that cross its border look overflown, and
# what it takes from an allocator of ours looks as if it were still free.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0
for target in import trace; do
  mkdir -p "build-fuzz/corpus/$target"
  "build-fuzz/bin/htp-$target-fuzzer" -max_total_time="${1:-60}" -max_len=8192 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix=build-fuzz/crashes/ \
    "build-fuzz/corpus/$target" "build-fuzz/seeds/$target"
done
