#!/usr/bin/env bash
# fuzz.sh SECONDS SEED FUZZER...: runs the fuzzers, which are programs or Python scripts, for SECONDS in
# total, as many at once as there are cores. A SEED gives the same texts each time; 0 gives different ones.
#
# A finding is kept in build/fuzz/found/ and printed with the command that reproduces it. Inputs that reached
# new code stay in build/fuzz/corpus/, where the next run begins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
seconds=$1
export seed=$2
shift 2
cores=$(nproc)
each=$((seconds * (cores < $# ? cores : $#) / $#))
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1

seeds_of() { # FUZZER: directories with initial texts
  case $1 in
    ptx) echo grader/tests/fixtures/ptx grader/tests/fixtures/fuzz/ptx ;;
    rubric) echo data/limits ;;
    submission) echo solutions grader/labs/*/submissions/wrong ;;
    record) echo grader/tests/fixtures/fuzz/record ;;
    listing) echo grader/tests/fixtures/fuzz/listing ;;
    binary) echo grader/tests/fixtures/fuzz/binary ;;
    values) ;;
    attempts) echo grader/tests/fixtures/fuzz/history ;;
    roster | gradebook | course | history | result) echo "grader/tests/fixtures/fuzz/$1" ;;
    *) echo "fuzz.sh: $1 has no seeds" >&2; return 1 ;;
  esac
}

fuzz() { # PROGRAM or SCRIPT.py
  local name=${1##*/} command=("$1") corpus found log scratch status=0
  [ "$name" = "${name%.py}" ] || command=(.venv/bin/python "$1")
  name=${name%.py}
  scratch=$(mktemp -d)
  corpus=build/fuzz/corpus/$name found=build/fuzz/found/$name- log=build/fuzz/$name.log
  mkdir -p "$corpus" build/fuzz/found
  TMPDIR=$scratch "${command[@]}" -max_total_time="$each" -seed="$seed" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -use_value_profile=1 \
    -artifact_prefix="$found" "$corpus" $(seeds_of "$name") >"$log" 2>&1 || status=$?
  rm -rf "$scratch"
  if [ $status != 0 ]; then
    tail -n 40 "$log"
    echo "fuzz: $name has found something; show it again: ${command[*]} $(ls -t "$found"* 2>/dev/null | head -n 1)"
    return 1
  fi
  echo "fuzz: $name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") texts in $each s, nothing found"
}

export -f fuzz seeds_of
export each
printf '%s\n' "$@" | xargs -P "$cores" -I{} bash -euo pipefail -c 'fuzz {}'
