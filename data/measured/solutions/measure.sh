#!/usr/bin/env bash
# What `make grade DIR=solutions DEVICE=gpu` measures on the GPU of this machine, and what becomes of
# submissions that try to cheat the clock; writes two files to DIR:
#
#   measure.sh DIR    DIR/NAME-solutions.csv   times, against the yardsticks of the same rounds
#                     DIR/NAME-cheats.csv      verdicts
#
# LAB32 and LAB32_TESTS name other binaries than those of `make`. Clocks and power limits are left as
# they are; what they were stands in the head of the files.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
lab32=$(realpath "${LAB32:-build/lab32}") tests=$(realpath "${LAB32_TESTS:-build/lab32_tests}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../gpu.sh
command=data/measured/solutions/measure.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Lost points (status 1) are a result.
"$lab32" grade --dir ../../../solutions --device gpu --format json -o "$scratch/result.json" ||
  [ $? -eq 1 ]
python3 collect.py "$scratch/result.json" >"$scratch/solutions.csv"
{
  head_lines "$command (median and 95 % interval of the rounds, L2 made cold by reading)"
  cat "$scratch/solutions.csv"
} >"$to/$name-solutions.csv"

"$tests" -tc='cheats on a GPU' >"$scratch/cheats.log" || { cat "$scratch/cheats.log" >&2; exit 1; }
{
  head_lines "$command (part \"cheats\")"
  echo "lab,submission,check,status,measured"
  sed -n 's/^cheat,//p' "$scratch/cheats.log"
} >"$to/$name-cheats.csv"
