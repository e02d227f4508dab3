#!/bin/sh
# Counts the requests of the kernels of divergence.cu:  grader/tools/measure/divergence/measure.sh OUTPUT_FOLDER
# Run it in this folder, with nvcc and ncu on PATH; then collect.py writes the table.
set -eu
here=$(dirname "$0")
out=$1
nvcc -std=c++17 -arch=native -lineinfo -w -o "$out/divergence" "$here/divergence.cu"
metrics=
for op in ld st red atom; do
  metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum
done
ncu --clock-control none --csv --print-units base --metrics "${metrics#,}" "$out/divergence" >"$out/divergence.csv"
{
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
  nvcc --version | tail -1
  ncu --version | tail -1
  date -u +%F
} >"$out/where"
