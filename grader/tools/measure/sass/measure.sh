#!/bin/sh
# Profiles launch_all and shared_atomics on this machine's GPU; then collect.py writes the tables.
# usage: measure.sh OUT_DIR, in this folder, with nvcc and ncu on PATH
set -e
out=$1
program=/tmp/launch_all
here=$(dirname "$0")
nvcc -std=c++17 -arch=native -lineinfo -o $program "$here/launch_all.cu"
nvcc -std=c++17 -arch=native -lineinfo -o /tmp/shared_atomics "$here/shared_atomics.cu"
{
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
  nvcc --version | tail -1
  ncu --version | tail -1
  date +%F
  echo 'command: measure.sh'
} >"$out/where.txt"
wanted='
l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_requests_pipe_lsu_mem_global_op_st
l1tex__t_requests_pipe_lsu_mem_global_op_red l1tex__t_requests_pipe_lsu_mem_global_op_atom
l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts
l1tex__t_sectors_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_st
l1tex__t_sectors_pipe_lsu_mem_global_op_red l1tex__t_sectors_pipe_lsu_mem_global_op_atom
l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts
l1tex__t_requests_pipe_lsu_mem_local_op_ld l1tex__t_requests_pipe_lsu_mem_local_op_st
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_red
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom
smsp__inst_executed smsp__inst_executed_op_shared_ld smsp__inst_executed_op_shared_st
smsp__inst_executed_op_shared_atom smsp__inst_executed_op_shared_atom_dot_alu
smsp__inst_executed_op_shared_atom_dot_cas smsp__inst_executed_op_ldsm
smsp__inst_executed_op_ldgsts smsp__inst_executed_op_global_ld smsp__inst_executed_op_global_st
smsp__inst_executed_op_global_red smsp__inst_executed_op_global_atom
smsp__sass_inst_executed_op_shared_ld smsp__sass_inst_executed_op_shared_st
smsp__sass_inst_executed_op_shared_atom smsp__sass_inst_executed_op_shared_red
smsp__sass_inst_executed_op_ldgsts smsp__sass_inst_executed_op_ldsm
smsp__sass_inst_executed_op_global_ld smsp__sass_inst_executed_op_global_st
smsp__sass_inst_executed_op_global_red smsp__sass_inst_executed_op_global_atom
'
ncu --query-metrics | awk '{print $1}' | sort -u >"$out/known"
metrics=memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
metrics=$metrics,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal
for m in $wanted; do
  if grep -qx "$m" "$out/known"; then metrics=$metrics,$m.sum; else echo "no metric $m" >&2; fi
done
rm "$out/known"
ncu --clock-control none --csv --print-units base --metrics "$metrics" "$program" >"$out/launch_all.csv"
# Profiles the launches again by instruction: how often each was executed, and its wavefronts.
ncu --clock-control none -f -o /tmp/launch_all --import-source no \
    --metrics inst_executed,thread_inst_executed,thread_inst_executed_true,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal \
    "$program" >/dev/null
ncu -i /tmp/launch_all.ncu-rep --page source --print-source sass --csv >"$out/by_instruction.csv"
shared=memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
for m in smsp__sass_inst_executed_op_shared_ld smsp__sass_inst_executed_op_shared_atom \
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld \
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom; do
  shared=$shared,$m.sum
done
ncu --clock-control none --csv --print-units base --metrics "$shared" /tmp/shared_atomics \
    >"$out/shared_atomics.csv"
