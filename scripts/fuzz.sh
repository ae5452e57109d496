#!/usr/bin/env bash
# fuzz.sh [SECONDS] [SEED] [MUTANTS]: libFuzzer with sanitizers on each target for a while, properties of random models, mutants of
# the exports in build/test-corpus or build/evaluation. The same seed does the same. A crash leaves its input in build-fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ ! -f scripts/env.sh ] || . scripts/env.sh
seconds=${1:-60} seed=${2:-1} mutants=${3:-1000}
targets="import mlir pipeline trace"

[ -e build-fuzz/build.ninja ] || .venv/bin/cmake --fresh --preset fuzz
.venv/bin/cmake --build build-fuzz --target $(printf 'htp-%s-fuzzer ' $targets)
.venv/bin/python fuzz/seeds.py build-fuzz/seeds build/bin
mkdir -p build-fuzz/crashes
# libMLIR is not instrumented: containers that cross its border look overflown, and
# what it takes from an allocator of ours looks as if it were still free.
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0
status=0
for target in $targets; do
  echo "== $target, $seconds s"
  mkdir -p "build-fuzz/corpus/$target"
  "build-fuzz/bin/htp-$target-fuzzer" -max_total_time="$seconds" -max_len=16384 -seed="$seed" -timeout=20 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix=build-fuzz/crashes/ \
    "build-fuzz/corpus/$target" "build-fuzz/seeds/$target" 2> "build-fuzz/$target.log" || status=1
  grep -E "ERROR|stat::number_of_executed_units|SUMMARY" "build-fuzz/$target.log" || true
done
echo "== properties"
.venv/bin/python fuzz/properties.py --bin build/bin --seed "$seed" --count 200 --keep build-fuzz/crashes || status=1
for corpus in build/evaluation/corpus build/test-corpus/corpus; do
  [ -d "$corpus" ] || continue
  echo "== mutants of $corpus"
  .venv/bin/python fuzz/attack.py "$corpus" --bin build/bin --seed "$seed" --count "$mutants" --keep build-fuzz/crashes || status=1
  break
done
exit $status
