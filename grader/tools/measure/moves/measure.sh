#!/bin/bash
# Measures every pattern of a set of make_patterns.py under Nsight Compute, or kernels.cu; collect.py joins
# the tables with the patterns.
#   grader/tools/measure/moves/measure.sh OUTPUT_FOLDER known|unseen|more|predicted|kernels
set -eu
here=$(dirname "$0")
out=$1 set=$2
describe() {
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader | head -n 1
  ncu --version | tail -1
  date -u +%F
}
if [ "$set" = kernels ]; then
  nvcc -std=c++17 -arch=sm_90 -o "$out/kernels" "$here/kernels.cu"
  metrics=$(sed -n 's/^METRIC("\([^"]*\)".*/\1/p' "$here/../../../runtime/profiler/metrics.def" | grep -v ^lab32 | paste -sd,)
  ncu --clock-control none --cache-control all --csv --print-units base --metrics "$metrics" \
    "$out/kernels" >"$out/kernels.csv"
  describe >"$out/device"
  exit
fi
for program in texture copy; do
  nvcc -std=c++17 -arch=sm_90 -diag-suppress 550 -o "$out/${program}_patterns" "$here/${program}_patterns.cu" 2>/dev/null
  python3 "$here/make_patterns.py" $program "$set" >"$out/patterns-$program-$set.csv"
done
t=l1tex__t_ p=_pipe_tex_mem_
texture="smsp__inst_executed_op_texture smsp__inst_executed_op_surface_ld smsp__inst_executed_op_surface_st
$(for op in texture texture_op_ld texture_op_tex surface_op_ld surface_op_st; do
  echo ${t}requests$p$op ${t}sectors$p$op ${t}sectors$p${op}_lookup_hit ${t}sectors$p${op}_lookup_miss
done)
${t}set_accesses_pipe_tex ${t}set_conflicts_pipe_tex l1tex__data_pipe_tex_wavefronts l1tex__data_pipe_lsu_wavefronts_mem_surface
l1tex__f_wavefronts l1tex__m_xbar2l1tex_read_sectors_pipe_tex l1tex__m_l1tex2xbar_write_sectors_pipe_tex
lts__t_sectors_srcunit_tex_op_read lts__t_sectors_srcunit_tex_op_write lts__t_requests_srcunit_tex"
d=_pipe_lsu_mem_dshared_op_ w=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ i=smsp__sass_inst_executed_op_
copy="l1tex__tmain_requests smsp__inst_executed_op_tma_ld smsp__inst_executed_op_tma_st
l1tex__m_xbar2l1tex_read_sectors_pipe_tma l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld
l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld_dest_self l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld_dest_multicast
l1tex__m_l1tex2xbar_write_sectors_pipe_tma l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st
l1tex__m_l1tex2xbar_write_sectors_mem_dshared_op_tma_st l1tex__m_xbar2l1tex_read_sectors_mem_dshared_op_tma_st
l1tex__m_l1tex2xbar_write_sectors_mem_dshared l1tex__m_xbar2l1tex_read_sectors_mem_dshared
l1tex__data_bank_reads l1tex__data_bank_writes lts__t_sectors_srcunit_tex_op_read lts__t_sectors_srcunit_tex_op_write
lts__t_requests_srcunit_tex
$(for op in ld st atom redas; do
  echo ${t}requests$d$op ${t}sectors$d$op ${t}set_accesses$d$op ${t}output_wavefronts$d$op ${i}dshared_$op
done)
${w}ld ${w}st ${w}atom ${i}shared_ld ${i}shared_st ${i}shared_atom"
for program in texture copy; do
  metrics=$(for m in ${!program}; do echo "$m.sum"; done | paste -sd,)
  ncu --clock-control none --cache-control all --csv --print-units base --metrics "$metrics" \
    "$out/${program}_patterns" "$out/patterns-$program-$set.csv" 0 9999 >"$out/$program-$set.csv" 2>"$out/err" ||
    { cat "$out/err"; tail -3 "$out/$program-$set.csv"; }
  echo "$program $set: $SECONDS s"
done
describe >"$out/device"
