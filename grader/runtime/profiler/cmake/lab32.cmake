# CUDA programs for the simulated runtime:  cmake -DCMAKE_TOOLCHAIN_FILE=$(lab32 nvcc --cmake) ...
set(CMAKE_CUDA_COMPILER "${CMAKE_CURRENT_LIST_DIR}/nvcc")
get_filename_component(_lab32_runtime "${CMAKE_CURRENT_LIST_DIR}/../../../../build/runtime" ABSOLUTE)
# CMake links with the host's compiler. Ours must come before the toolkit's, when it links and when
# the program is loaded (LD_LIBRARY_PATH comes before RUNPATH, and after RPATH).
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
foreach(_lab32_kind EXE SHARED MODULE)
  set(CMAKE_${_lab32_kind}_LINKER_FLAGS_INIT
      "-L${_lab32_runtime} -Wl,--disable-new-dtags,-rpath,${_lab32_runtime}")
endforeach()
