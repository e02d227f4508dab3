#!/usr/bin/env bash
# measure.sh AUTOGRADER FILE...: what Gradescope's autograder takes for these files, in a control
# group with the limits of Gradescope's usual container: 768 MB, half a CPU, no swap. AUTOGRADER is
# laid out as its image has it, after setup.sh. As root.
set -euo pipefail
top=$(realpath "$1")
shift
name=lab32-measure-$$ groups=()

set_up() { # DIRECTORY FILE=VALUE...
  local setting
  mkdir "$1"
  groups+=("$1")
  for setting in "${@:2}"; do
    # Without accounting of swap there is no such limit.
    [ ! -e "$1/${setting%%=*}" ] || echo "${setting#*=}" >"$1/${setting%%=*}"
  done
}
at=/sys/fs/cgroup
if [ -e $at/cgroup.controllers ]; then
  echo '+memory +cpu' >$at/cgroup.subtree_control
  set_up $at/$name memory.max=768M memory.swap.max=0 'cpu.max=50000 100000'
  peak=$at/$name/memory.peak events=$at/$name/memory.events
else
  set_up $at/memory/$name memory.limit_in_bytes=768M memory.memsw.limit_in_bytes=768M
  set_up $at/cpu/$name cpu.cfs_quota_us=50000 cpu.cfs_period_us=100000
  peak=$at/memory/$name/memory.max_usage_in_bytes events=$at/memory/$name/memory.oom_control
fi
home=$(mktemp -d)
trap 'rm -rf "$home"; rmdir "${groups[@]}"' EXIT

rm -rf "$top/submission" "$top/results"
mkdir "$top/submission" "$top/results"
cp -- "$@" "$top/submission"
start=$(date +%s.%N)
status=0
(
  for group in "${groups[@]}"; do echo $BASHPID >"$group/cgroup.procs"; done
  # The compilers' results of an earlier run are none that a fresh container has.
  export HOME=$home
  exec "$top/run_autograder"
) || status=$?
end=$(date +%s.%N)
awk -v a="$start" -v b="$end" -v peak="$(cat "$peak")" -v status="$status" 'BEGIN {
  printf "status %d, %.1f s, %.0f MB at most (files that the kernel keeps in memory included)\n", status, b - a, peak / 1e6 }'
grep '^oom_kill ' "$events" || true
grep -m 1 '"score"' "$top/results/results.json" || true
