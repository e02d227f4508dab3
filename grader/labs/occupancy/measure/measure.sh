#!/usr/bin/env bash
# Measures the shapes of the occupancy lab, and kinds of memory, on the GPU of this machine and
# writes to DIR:
#
#   measure.sh DIR    DIR/NAME-occupancy.csv            times of the shapes
#                     DIR/NAME-occupancy-counters.csv   Nsight Compute's counters of them
#                     DIR/NAME-occupancy-suggested.csv  cudaOccupancyMaxPotentialBlockSize
#                     DIR/NAME-memories.csv             times of the kinds of memory
#                     DIR/NAME-memories-counters.csv    their counters
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/occupancy/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for program in shapes kinds; do
  nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include $program.cu -o "$scratch/$program" &
done
wait

# table FILE PROGRAM PART WORDS
table() {
  "$scratch/$2" "$3" >"$scratch/table.csv"
  {
    head_lines "$command (part \"$3\": $4)"
    cat "$scratch/table.csv"
  } >"$to/$name-$1.csv"
}
how='median of 21, L2 made cold by reading 512 MiB before each'
table occupancy shapes time "$how"
table occupancy-suggested shapes suggested 'the runtime, without a launch'
table memories kinds time "$how"

metrics='gpu__time_duration.sum
sm__warps_active.avg.pct_of_peak_sustained_active
sm__maximum_warps_per_active_cycle_pct
launch__registers_per_thread
launch__waves_per_multiprocessor
launch__occupancy_limit_registers
launch__occupancy_limit_shared_mem
launch__occupancy_limit_warps
launch__occupancy_limit_blocks
l1tex__t_sector_hit_rate.pct
lts__t_sectors_op_read.sum
dram__bytes_read.sum
smsp__sass_inst_executed_op_local_ld.sum
smsp__sass_inst_executed_op_local_st.sum'
# counted FILE PROGRAM
counted() {
  count_with_ncu "$scratch/ncu.csv" "$metrics" "$scratch/$2" counters >"$scratch/launches.csv"
  {
    head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all)"
    python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
  } >"$to/$name-$1-counters.csv"
}
counted occupancy shapes
counted memories kinds
