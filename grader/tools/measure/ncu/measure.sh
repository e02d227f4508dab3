#!/bin/sh
# Records Nsight Compute's output for the programs in this folder:  grader/tools/measure/ncu/measure.sh OUTPUT_FOLDER
# Run it in this folder, with nvcc and ncu on PATH. The tables stay unchanged except for the lines above their
# headers, which collect.py replaces by a description of this GPU.
set -eu
here=$(dirname "$0")
out=$1
for program in names shapes sample; do
  nvcc -std=c++17 -arch=sm_90 -lineinfo -w -o "$out/$program" "$here/$program.cu"
done
for collection in profiling launch source device; do
  ncu --query-metrics-collection $collection --query-metrics 2>/dev/null || true
done | awk '/^[a-z]/ { print $1 }' | sort -u >"$out/known"
wc -l "$out/known"

# The given metrics that this version of ncu has, joined by commas.
known() {
  chosen=
  for metric; do
    if grep -qx -e "$metric" -e "${metric%%.*}" "$out/known"; then chosen=$chosen,$metric
    else echo "no metric $metric" >&2; fi
  done
  echo "${chosen#,}"
}
profile() {  # NAME METRICS
  ncu --clock-control none --cache-control all --csv --print-units base --metrics "$2" \
    "$out/$1" >"$out/ncu-$1.csv" || tail -5 "$out/ncu-$1.csv"
}

shape=$(known launch__block_dim_x launch__block_dim_y launch__block_dim_z launch__block_size \
  launch__grid_dim_x launch__grid_dim_y launch__grid_dim_z launch__grid_size launch__thread_count \
  launch__waves_per_multiprocessor launch__registers_per_thread \
  launch__registers_per_thread_allocated launch__shared_mem_per_block \
  launch__shared_mem_per_block_static launch__shared_mem_per_block_dynamic \
  launch__shared_mem_per_block_driver launch__shared_mem_per_block_allocated \
  launch__shared_mem_config_size launch__occupancy_limit_blocks launch__occupancy_limit_registers \
  launch__occupancy_limit_shared_mem launch__occupancy_limit_warps \
  launch__occupancy_limit_barriers launch__occupancy_per_block_size launch__sm_count \
  launch__stack_size launch__context_id launch__stream_id launch__device_id \
  sm__maximum_warps_per_active_cycle_pct sm__maximum_warps_avg_per_active_cycle \
  smsp__maximum_warps_avg_per_active_cycle smsp__warps_launched.sum sm__warps_launched.sum \
  sm__ctas_launched.sum)
traffic=
for op in ld st red atom; do
  g=pipe_lsu_mem_global_op_$op
  traffic="$traffic l1tex__t_requests_$g.sum l1tex__t_sectors_$g.sum l1tex__t_bytes_$g.sum
    l1tex__average_t_sectors_per_request_$g.ratio smsp__sass_inst_executed_op_global_$op.sum
    smsp__inst_executed_op_global_$op.sum lts__t_sectors_srcunit_tex_op_$op.sum
    smsp__sass_inst_executed_op_shared_$op.sum smsp__inst_executed_op_shared_$op.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$op.sum
    smsp__sass_average_data_bytes_per_sector_mem_global_op_$op.ratio
    smsp__sass_average_data_bytes_per_sector_mem_global_op_$op.pct"
done
for op in read write red atom; do traffic="$traffic lts__t_sectors_op_$op.sum"; done
# shellcheck disable=SC2086
all=$shape,$(known $traffic memory_l2_theoretical_sectors_global \
  memory_l2_theoretical_sectors_global_ideal memory_l1_wavefronts_shared \
  memory_l1_wavefronts_shared_ideal \
  l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \
  smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct \
  smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio \
  l1tex__t_sector_hit_rate.pct lts__t_sector_hit_rate.pct dram__bytes_read.sum dram__bytes_write.sum \
  dram__bytes.sum dram__sectors_read.sum dram__sectors_write.sum gpu__time_duration.sum \
  lts__t_sectors.sum smsp__inst_executed.sum sm__inst_executed.sum smsp__thread_inst_executed.sum \
  smsp__thread_inst_executed_per_inst_executed.ratio smsp__inst_issued.sum \
  sm__warps_active.avg.pct_of_peak_sustained_active gpc__cycles_elapsed.max)

profile names launch__grid_size
profile shapes "$shape"
profile sample "$all"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader >"$out/device"
ncu --version | tail -1 >>"$out/device"
date -u +%F >>"$out/device"
cuobjdump=$(command -v cuobjdump || true)
command -v cu++filt && cuobjdump -symbols "$out/names" 2>/dev/null | awk '{print $NF}' | grep ^_Z | cu++filt >"$out/filt.txt" || true
