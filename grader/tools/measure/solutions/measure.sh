#!/usr/bin/env bash
# Records the output of `make grade DIR=solutions DEVICE=gpu` on this machine's GPU, and the verdicts there on
# submissions that try to deceive the timer or that fault; writes five files to DIR:
#
#   measure.sh DIR    DIR/NAME-solutions.csv    times, against the baselines of the same rounds
#                     DIR/NAME-score-report.txt   the score report of that grading
#                     DIR/NAME-calibration.txt  output of `lab32 calibrate`
#                     DIR/NAME-cheats.csv       verdicts on cheats
#                     DIR/NAME-faults.csv       verdicts on kernels that fault or never end
#
# LAB32 and LAB32_TESTS name other binaries than those of `make`. Clocks and power limits are left as
# they are; what they were stands in the head of the files.
set -euo pipefail
to=$(realpath "${1:?usage: measure.sh DIR}")
lab32=$(realpath "${LAB32:-build/lab32}") tests=$(realpath "${LAB32_TESTS:-build/lab32_tests}")
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../gpu.sh
here=grader/tools/measure/solutions
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd ../../../..

# A submission that lost points (status 1) is not an error.
"$lab32" grade --dir solutions --device gpu --json "$scratch/result.json" >"$scratch/board" ||
  [ $? -eq 1 ]
python3 $here/collect.py "$scratch/result.json" >"$scratch/solutions.csv"
{
  head_lines "$here/measure.sh (median and 95 % interval of the rounds, L2 made cold by reading)"
  cat "$scratch/solutions.csv"
} >"$to/$name-solutions.csv"
{
  head_lines "make grade DIR=solutions DEVICE=gpu"
  echo
  cat "$scratch/board"
} >"$to/$name-score-report.txt"

"$lab32" calibrate -o "$scratch/calibration"
{
  head_lines "lab32 calibrate"
  echo
  cat "$scratch/calibration"
} >"$to/$name-calibration.txt"

"$tests" -tc='*cheats and faults on a GPU' >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
for kind in cheat fault; do
  {
    head_lines "$here/measure.sh (part \"${kind}s\")"
    echo "lab,submission,check,status,measured,words"
    sed -n "s/^$kind,//p" "$scratch/log"
  } >"$to/$name-${kind}s.csv"
done
