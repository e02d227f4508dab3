# Sourced by each lab's measure.sh: identifies the GPU, writes the head of a measured table, and
# collects Nsight Compute's counters as CSV.

ask() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
gpu=$(ask name)
name=$(tr '[:upper:] ' '[:lower:]-' <<<"${gpu#NVIDIA }")

# head_lines COMMAND: the "# key: value" lines above a table.
head_lines() {
  echo "# device: $gpu"
  echo "# driver: $(ask driver_version)"
  echo "# cuda: $(nvcc --version | sed -n 's/.*release \([^,]*\).*/\1/p')"
  echo "# clocks: SM $(ask clocks.sm), memory $(ask clocks.mem), as found after the run"
  echo "# date: $(date -u +%F)"
  echo "# command: $1"
}

# count_with_ncu LOG METRICS PROGRAM ARGUMENTS...: METRICS are names, one per line.
count_with_ncu() {
  ncu --clock-control none --cache-control all --profile-from-start off --csv --print-units base \
    --metrics "$(paste -sd, <<<"$2")" --log-file "$1" "${@:3}"
}
