#!/usr/bin/env bash
# Measures the patterns of the coalescing lab on the GPU of this machine and writes two files to DIR:
#
#   measure.sh DIR    DIR/NAME-coalescing.csv            times
#                     DIR/NAME-coalescing-counters.csv   Nsight Compute's counters
#
# Clocks and power limits stay unchanged; the heads of the files record them.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
command=grader/labs/coalescing/measure/measure.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native -I../../../../labs/include measure.cu -o "$scratch/measure"

ask() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
gpu=$(ask name)
name=$(tr '[:upper:] ' '[:lower:]-' <<<"${gpu#NVIDIA }")
head_lines() {
  echo "# device: $gpu"
  echo "# driver: $(ask driver_version)"
  echo "# cuda: $(nvcc --version | sed -n 's/.*release \([^,]*\).*/\1/p')"
  echo "# clocks: SM $(ask clocks.sm), memory $(ask clocks.mem), as found after the run"
  echo "# date: $(date -u +%F)"
  echo "# command: $command $1"
}

"$scratch/measure" time >"$scratch/time.csv"
{
  head_lines '(part "time": median of 31, L2 made cold by reading 512 MiB before each)'
  cat "$scratch/time.csv"
} >"$to/$name-coalescing.csv"

metrics=$(paste -sd, <<'END'
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_sector_hit_rate.pct
lts__t_sector_hit_rate.pct
lts__t_sectors_op_read.sum
lts__t_sectors_op_write.sum
lts__t_sectors_op_read_lookup_hit.sum
lts__t_sectors_op_write_lookup_hit.sum
dram__bytes_read.sum
dram__bytes_write.sum
gpu__time_duration.sum
END
)
ncu --clock-control none --cache-control all --profile-from-start off --csv --print-units base \
  --metrics "$metrics" --log-file "$scratch/ncu.csv" "$scratch/measure" counters \
  >"$scratch/launches.csv"
{
  head_lines '(part "counters": ncu --clock-control none --cache-control all --print-units base)'
  python3 ../../../tools/measure/collect.py "$scratch/launches.csv" "$scratch/ncu.csv"
} >"$to/$name-coalescing-counters.csv"
