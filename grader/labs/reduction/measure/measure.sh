#!/usr/bin/env bash
# Measures the versions of the reduction lab on the GPU of this machine and writes four files to DIR:
#
#   measure.sh DIR FILE  DIR/NAME-reduction.csv only, of a submission: labs/reduction/reduction.cu
#   measure.sh DIR       DIR/NAME-reduction.csv           times
#                        DIR/NAME-reduction-counters.csv  Nsight Compute's counters
#                        DIR/NAME-reduction-steps.csv     wrong sums without barriers in the last warp
#                        DIR/NAME-reduction-host.csv      cudaMalloc and cudaMemcpy
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR [FILE]}")
submission=${2:+$(realpath "$2")}
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../../../tools/measure/gpu.sh
command=grader/labs/reduction/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include \
  ${submission:+"-DSUBMISSION=\"$submission\""} measure.cu -o "$scratch/measure"
nvcc -O3 -std=c++17 -arch=native host.cu -o "$scratch/host"
cub=$(echo '#include <cub/version.cuh>
CUB_VERSION' | nvcc -x cu -E - | tail -n 1)

part() {
  if [[ $1 == host ]]; then "$scratch/host"; else "$scratch/measure" "$1"; fi >"$scratch/$1.csv"
  {
    head_lines "$command (part \"$1\": $2)"
    echo "# cub: $cub"
    cat "$scratch/$1.csv"
  } >"$to/$3"
}

part time "median of 31; L2 made cold by reading 512 MiB before each; \"warm\": one after the other, \
20 in a CUDA graph, 3 above 2^26" "$name-reduction.csv"
[[ -z $submission ]] || exit 0
part steps "blocks of 128 threads, 2 ints per thread" "$name-reduction-steps.csv"
part host "10 times, pageable memory" "$name-reduction-host.csv"

count_with_ncu "$scratch/ncu.csv" \
"smsp__inst_executed.sum
smsp__thread_inst_executed.sum
smsp__thread_inst_executed_per_inst_executed.ratio
sm__warps_launched.sum
launch__thread_count
launch__grid_size
memory_l1_wavefronts_shared
memory_l1_wavefronts_shared_ideal
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sector_hit_rate.pct
dram__bytes_read.sum
dram__throughput.avg.pct_of_peak_sustained_elapsed
gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
sm__throughput.avg.pct_of_peak_sustained_elapsed
sm__cycles_active.avg
sm__warps_active.avg.pct_of_peak_sustained_active
smsp__issue_active.avg.pct_of_peak_sustained_active
smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio
gpu__time_duration.sum" \
  "$scratch/measure" counters >"$scratch/launches.csv"
{
  head_lines "$command (part \"counters\": ncu --clock-control none --cache-control all)"
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-reduction-counters.csv"
