#!/usr/bin/env bash
# Times the launches of launches.csv on the GPU of this machine, lets Nsight Compute count, and writes
# two files to DIR:
#
#   measure.sh DIR    DIR/NAME-model.csv            times
#                     DIR/NAME-model-counters.csv   Nsight Compute's counters
#
# Clocks and power limits are left as they are; what they were stands in the head of the files.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../gpu.sh
command=data/measured/model/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As lab32 compiles (grader/compile/nvcc.cpp), so that the machine code is the same.
nvcc -std=c++17 -arch=native -lineinfo -cubin kernels.cu -o "$scratch/kernels.cubin"
nvcc -O3 -std=c++17 -arch=native measure.cu -o "$scratch/measure"

"$scratch/measure" launches.csv "$scratch/kernels.cubin" time >"$scratch/time.csv"
{
  head_lines "$command (warm: median of 7 times of up to 50 launches one behind the other; cold: median of 15, L2 made cold by reading 512 MiB before each; events)"
  cat "$scratch/time.csv"
} >"$to/$name-model.csv"

# Not every Nsight Compute knows every name.
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
  "$scratch/measure" launches.csv "$scratch/kernels.cubin" counters
{
  head_lines "$command (ncu --clock-control none --cache-control all --print-units base)"
  python3 collect.py launches.csv "$scratch/ncu.csv"
} >"$to/$name-model-counters.csv"
