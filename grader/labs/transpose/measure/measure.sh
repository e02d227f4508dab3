#!/usr/bin/env bash
# Measures the versions of the transpose lab on the GPU of this machine and writes to DIR:
#
#   measure.sh DIR    DIR/NAME-transpose.csv            times
#                     DIR/NAME-transpose-counters.csv   Nsight Compute's counters
#                     DIR/NAME-geam.csv                 compared with cuBLAS, if that is installed
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/transpose/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include measure.cu -o "$scratch/measure"

"$scratch/measure" time >"$scratch/time.csv"
{
  head_lines "$command (part \"time\": median of 31, L2 made cold by reading 512 MiB before each)"
  cat "$scratch/time.csv"
} >"$to/$name-transpose.csv"

count_with_ncu "$scratch/ncu.csv" \
"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
memory_l1_wavefronts_shared
memory_l1_wavefronts_shared_ideal
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
l1tex__t_sector_hit_rate.pct
lts__t_sectors_op_read.sum
lts__t_sectors_op_write.sum
dram__bytes_read.sum
dram__bytes_write.sum
gpu__time_duration.sum" \
  "$scratch/measure" counters >"$scratch/launches.csv"
{
  head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all)"
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-transpose-counters.csv"

if nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include geam.cu -lcublas -o "$scratch/geam"; then
  "$scratch/geam" >"$scratch/geam.csv"
  {
    head_lines "$command (part \"geam\": medians of 31 rounds in which all three take turns; cold: one launch after reading 512 MiB, warm: 20 in a row)"
    cat "$scratch/geam.csv"
  } >"$to/$name-geam.csv"
else
  echo "no cuBLAS here: $name-geam.csv stays as it is" >&2
fi
