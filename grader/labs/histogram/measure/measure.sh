#!/usr/bin/env bash
# Measures the versions of the histogram lab on the GPU of this machine and writes two files to DIR:
#
#   measure.sh DIR    DIR/NAME-histogram.csv            times
#                     DIR/NAME-histogram-counters.csv   Nsight Compute's counters
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/histogram/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include measure.cu -o "$scratch/measure"

"$scratch/measure" time >"$scratch/time.csv"
{
  head_lines "$command (part \"time\": median of 31, L2 made cold by reading 512 MiB before each)"
  cat "$scratch/time.csv"
} >"$to/$name-histogram.csv"

count_with_ncu "$scratch/ncu.csv" \
"memory_l1_wavefronts_shared
memory_l1_wavefronts_shared_ideal
smsp__inst_executed_op_shared_atom.sum
smsp__sass_inst_executed_op_shared_ld.sum
smsp__sass_inst_executed_op_shared_st.sum
smsp__inst_executed.sum
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum
gpu__time_duration.sum" \
  "$scratch/measure" counters >"$scratch/launches.csv"
{
  head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all --print-units base)"
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-histogram-counters.csv"
