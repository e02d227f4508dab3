#!/usr/bin/env bash
# Times the launches of launches.csv on the GPU of this machine, lets Nsight Compute count, and writes
# four files to DIR:
#
#   measure.sh DIR [FIRST]   DIR/NAME-model.csv            times of all sets but labs
#                            DIR/NAME-model-counters.csv   Nsight Compute's counters
#                            DIR/NAME-labs.csv             times of the labs' kernels and of copies
#                            DIR/NAME-labs-counters.csv
#
# FIRST: measures only launches with at least this id, and appends their rows.
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR [FIRST]}")
first=${2:-0}
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../measure/gpu.sh
command=grader/tools/calibration/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As lab32 compiles (grader/toolchain/nvcc.cpp), so that the machine code is the same.
root=../../..
awk -F, -v first="$first" 'NR == 1 || $1 >= first' $root/data/measured/model/launches.csv \
  >"$scratch/launches.csv"
cut -d, -f3 "$scratch/launches.csv" | tail -n +2 | sort -u | while read -r file; do
  cubin=${file%.cu}
  nvcc -std=c++17 -arch=native -lineinfo -I$root/labs/include -cubin "$root/$file" \
    -o "$scratch/${cubin//\//_}.cubin"
done
nvcc -O3 -std=c++17 -arch=native measure.cu -o "$scratch/measure"

"$scratch/measure" "$scratch/launches.csv" "$scratch" time >"$scratch/time.csv"

# Not every version of Nsight Compute has every metric.
ncu --query-metrics | awk '{print $1}' | sort -u >"$scratch/known"
metrics=
while read -r metric; do
  case $metric in
    launch__*) metrics+=$metric$'\n' ;;
    *) if grep -qx "${metric%%.*}" "$scratch/known"; then metrics+=$metric$'\n'
       else echo "this ncu has no ${metric%%.*}" >&2; fi ;;
  esac
done <metrics.txt
count_with_ncu "$scratch/ncu.csv" "${metrics%$'\n'}" \
  "$scratch/measure" "$scratch/launches.csv" "$scratch" counters

for table in model labs; do
  {
    head_lines "$command (warm: median of 7 times of up to 50 launches one behind the other; cold: median of 15, L2 made cold by reading 512 MiB before each; events; copies alike, of half the useful bytes)"
    python3 collect.py $table times "$scratch/launches.csv" "$scratch/time.csv"
  } >"$to/$name-$table.csv"
  {
    head_lines "$command (ncu --clock-control none --cache-control all --print-units base)"
    python3 collect.py $table counters "$scratch/launches.csv" "$scratch/ncu.csv"
  } >"$to/$name-$table-counters.csv"
done
