#!/bin/sh
# Profiles launch_all on the GPU at hand and writes launch_all.csv (one row a launch and metric).
# usage: measure.sh PROGRAM OUT_DIR
set -e
program=$1
out=$2
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
# The same launches instruction by instruction: how often each was executed, and its wavefronts.
ncu --clock-control none -f -o /tmp/launch_all --import-source no \
    --metrics group:smsp__pcsamp_warp_stall_reasons,inst_executed,thread_inst_executed,thread_inst_executed_true,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal \
    "$program" >/dev/null
ncu -i /tmp/launch_all.ncu-rep --page source --print-source sass --csv >"$out/by_instruction.csv"
