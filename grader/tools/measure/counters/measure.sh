#!/bin/sh
# Measures every pattern under Nsight Compute, a hundred or so launches per run, until the time is up:
#   grader/tools/measure/counters/measure.sh OUTPUT_FOLDER [SECONDS] [SET of make_patterns.py]
# then collect.py joins OUTPUT_FOLDER/*.csv with the patterns.
set -eu
here=$(dirname "$0")
out=$1
limit=${2:-200}
set=${3:-}
start=$(date +%s)
nvcc -arch=sm_90 -o "$out/access_patterns" "$here/access_patterns.cu"
python3 "$here/make_patterns.py" $set >"$out/patterns.csv"
ncu --query-metrics 2>/dev/null | awk '/^[a-z]/ { print $1 }' >"$out/known" || true

# The hardware counters among those named that this GPU has, and the other given metrics.
metrics() {
  chosen=$1
  shift
  for m in "$@"; do
    if grep -qx "${m%.sum}" "$out/known"; then chosen=$chosen,$m; fi
  done
  echo "$chosen"
}
t=l1tex__t_
g=_pipe_lsu_mem_global_op_
# shellcheck disable=SC2046
global=$(metrics memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal \
  $(for op in ld st red atom; do echo ${t}requests$g$op.sum ${t}sectors$g$op.sum; done) \
  $(for op in red atom; do
    echo ${t}output_wavefronts$g$op.sum ${t}set_accesses$g$op.sum ${t}set_conflicts$g$op.sum
    echo lts__t_sectors_op_$op.sum lts__t_requests_srcunit_tex_op_$op.sum
  done))
d=l1tex__data_pipe_lsu_wavefronts_mem_shared
shared=$(metrics memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal \
  $d.sum ${d}_op_ld.sum ${d}_op_st.sum ${d}_op_atom.sum)
echo "global: $global"
echo "shared: $shared"

# measure NAME FIRST LAST STEP METRICS: one pass over the patterns, as far as the time allows
measure() {
  from=$2
  while [ "$from" -lt "$3" ]; do
    to=$((from + $4))
    if [ "$to" -gt "$3" ]; then to=$3; fi
    if [ $(($(date +%s) - start)) -gt "$limit" ]; then echo "no time for $1 from $from"; return; fi
    ncu --clock-control none --cache-control none --csv --print-units base --metrics "$5" \
      "$out/access_patterns" "$out/patterns.csv" "$from" "$to" >"$out/$1-$from.csv" 2>"$out/err" ||
      { cat "$out/err"; tail -3 "$out/$1-$from.csv"; }
    echo "$1 $from..$to: $(($(date +%s) - start)) s"
    from=$to
  done
}
if [ "$set" ]; then
  # Collects only compared metrics, as time is short, and alternates the spaces, so that both get their share.
  i=smsp__sass_inst_executed_op_shared
  global=$(metrics memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal \
    $(for op in ld st red atom; do echo ${t}requests$g$op.sum ${t}sectors$g$op.sum; done))
  shared=$(metrics memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal \
    ${d}_op_ld.sum ${d}_op_st.sum ${d}_op_atom.sum ${i}_ld.sum ${i}_st.sum ${i}_atom.sum)
fi
globals=$(grep -c '^g_' "$out/patterns.csv")
all=$((globals + $(grep -c '^s_' "$out/patterns.csv")))
if [ "$set" ]; then
  first=0
  while [ "$first" -lt "$globals" ] || [ $((globals + first)) -lt "$all" ]; do
    last=$((first + 166))
    measure g "$first" "$((last < globals ? last : globals))" 166 "$global"
    measure s "$((globals + first))" "$((globals + last < all ? globals + last : all))" 166 "$shared"
    first=$last
  done
else
  measure g 0 "$globals" 132 "$global"
  measure s "$globals" "$all" 140 "$shared"
fi
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader >"$out/device"
ncu --version | tail -1 >>"$out/device"
date -u +%F >>"$out/device"
