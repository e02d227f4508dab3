#!/usr/bin/env bash
# Measures the kernels of the shuffle lab on the GPU of this machine and writes three files to DIR:
#
#   measure.sh DIR    DIR/NAME-shuffle.csv            times
#                     DIR/NAME-shuffle-results.csv    sums of floats in several orders
#                     DIR/NAME-shuffle-counters.csv   Nsight Compute's counters
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/shuffle/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include measure.cu -o "$scratch/measure"

"$scratch/measure" time >"$scratch/time.csv"
{
  head_lines "$command (part \"time\": median of 21, L2 made cold by reading 512 MiB before each)"
  cat "$scratch/time.csv"
} >"$to/$name-shuffle.csv"

"$scratch/measure" results >"$scratch/results.csv"
{
  head_lines "$command (part \"results\": 20 runs each)"
  cat "$scratch/results.csv"
} >"$to/$name-shuffle-results.csv"

count_with_ncu "$scratch/ncu.csv" \
"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
memory_l1_wavefronts_shared
memory_l1_wavefronts_shared_ideal
smsp__sass_inst_executed_op_shared_atom.sum
smsp__inst_executed.sum
smsp__thread_inst_executed.sum
l1tex__t_sector_hit_rate.pct
lts__t_sectors_op_read.sum
lts__t_sectors_op_write.sum
lts__t_sectors_op_red.sum
dram__bytes_read.sum
dram__bytes_write.sum
gpu__time_duration.sum" \
  "$scratch/measure" counters >"$scratch/launches.csv"
{
  head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all)"
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-shuffle-counters.csv"
