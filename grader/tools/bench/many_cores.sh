#!/usr/bin/env bash
# Measures how launches scale with cores, and how they could: a CSV of seconds with one host thread, with one
# thread per core, and with one thread in each of as many processes at once, which share only the machine
# (their mean). Each is the best of several rounds, because others use the machine, too.
#   grader/tools/bench/many_cores.sh [ROUNDS]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cores=$(nproc)
run() { LAB32_THREADS=$1 build/lab32 run grader/tools/bench/many_cores.cu -- "$2"; }
run 1 product >/dev/null  # compiles it
echo "kernel,cores,one_thread,all_threads,processes_at_once,gain,ceiling"
for kernel in product saxpy in_place; do
  for _ in $(seq "${1:-5}"); do
    apart=$(for _ in $(seq "$cores"); do run 1 $kernel & done | awk '{s += $1} END {print s / NR}')
    echo "$(run 1 $kernel) $(run "$cores" $kernel) $apart"
  done | awk -v kernel=$kernel -v n="$cores" '
    function least(i) { return NR == 1 || $i < best[i] ? $i : best[i] }
    { for (i = 1; i <= 3; ++i) best[i] = least(i) }
    END { printf "%s,%d,%.4f,%.4f,%.4f,%.1f,%.1f\n", kernel, n, best[1], best[2], best[3],
                 best[1] / best[2], n * best[1] / best[3] }'
done
