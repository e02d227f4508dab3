#!/usr/bin/env bash
# Measures the swizzle lab on the GPU of this machine and writes three files to DIR:
#
#   measure.sh DIR    DIR/NAME-swizzle.csv            times
#                     DIR/NAME-swizzle-counters.csv   Nsight Compute's counters
#                     DIR/NAME-tensor_maps.csv        where the bulk tensor copy puts each element
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/swizzle/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include measure.cu -o "$scratch/measure"
nvcc -O3 -std=c++17 -arch=native tensor_maps.cu -o "$scratch/tensor_maps"

"$scratch/tensor_maps" >"$scratch/maps.csv"
{
  head_lines "$command (tensor_maps.cu: one bulk tensor copy a box, read back byte by byte)"
  cat "$scratch/maps.csv"
} >"$to/$name-tensor_maps.csv"

"$scratch/measure" time >"$scratch/time.csv"
{
  head_lines "$command (part \"time\": median of 31, L2 made cold by reading 512 MiB before each)"
  cat "$scratch/time.csv"
} >"$to/$name-swizzle.csv"

count_with_ncu "$scratch/ncu.csv" \
"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
memory_l1_wavefronts_shared
memory_l1_wavefronts_shared_ideal
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
dram__bytes_read.sum
dram__bytes_write.sum
gpu__time_duration.sum" \
  "$scratch/measure" counters >"$scratch/launches.csv"
{
  head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all)"
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-swizzle-counters.csv"
