#!/usr/bin/env bash
# Runs kernels that race for device memory on the GPU of this machine, 200 times each:
#
#   measure.sh DIR    DIR/NAME-races.csv    how often a result was wrong
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../gpu.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc -O3 -std=c++17 -arch=native races.cu -o "$scratch/races"
"$scratch/races" >"$scratch/races.csv"
{
  head_lines grader/tools/measure/races/measure.sh
  cat "$scratch/races.csv"
} >"$to/$name-races.csv"
