#!/usr/bin/env bash
# What all cores give a launch, and what they could: a CSV of seconds with one host thread, with one
# per core, and of one thread each in as many processes at once, which share nothing but the machine.
#   grader/bench/many_cores.sh [ROUNDS]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cores=$(nproc)
run() { build/lab32 run grader/bench/many_cores.cu -- "$@"; }
run product >/dev/null  # compiles it
echo "kernel,cores,one_thread,all_threads,processes_at_once,gain,ceiling"
for kernel in product saxpy in_place; do
  for _ in $(seq "${1:-2}"); do
    one=$(LAB32_THREADS=1 run $kernel)
    all=$(LAB32_THREADS=$cores run $kernel)
    # The mean of all of them.
    apart=$(for _ in $(seq "$cores"); do LAB32_THREADS=1 run $kernel & done | awk '{s += $1} END {print s / NR}')
    awk -v k=$kernel -v n="$cores" -v o="$one" -v a="$all" -v p="$apart" \
      'BEGIN {printf "%s,%d,%.4f,%.4f,%.4f,%.1f,%.1f\n", k, n, o, a, p, o / a, n * o / p}'
  done
done
