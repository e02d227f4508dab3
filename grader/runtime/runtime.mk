# Whole programs: build/runtime holds lab32 with their commands in it, the libraries that programs are
# linked with, and the tests of both. Nothing that grades needs any of it.

RUNTIME_DIR  := $(PROGRAMS)/runtime
RUNTIME      := $(addprefix $(RUNTIME_DIR)/,lab32 libcudart.so.13 libcuda.so.1 libcublas.so.13)

$(RUNTIME_DIR)/lab32: $(GRADER) $(SUITES) $(call objects_of,app programs profiler record) $(BUILD)/objects
	$(link)
$(BUILD)/runtime_tests: $(call objects_of,tests_runtime profiler record cudart driver cublas) $(GRADER) $(SUITES) $(BUILD)/objects
	$(link)
$(BUILD)/runtime_tests: LDLIBS += -lzstd -llz4

# The simulated CUDA runtime.
$(RUNTIME_DIR)/libcudart.so.13: LDLIBS := $(filter -L%,$(LDLIBS)) -lfmt -ldl -pthread -lzstd -llz4
$(RUNTIME_DIR)/libcudart.so.13: $(call objects_of,cudart driver cublas record $(SIMULATOR_UNITS)) $(RUNTIME_DIR)/exports $(BUILD)/objects
	@echo '  link $@' >&2
	@$(CXX) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,$(@D)/exports \
	  -Wl,-Bsymbolic,-z,defs $(filter %.o,$^) -o $@ $(LDLIBS)
	@ln -sf $(@F) $(@D)/libcudart.so
$(RUNTIME_DIR)/exports: grader/runtime/cudart/api.def grader/runtime/runtime.mk
	@mkdir -p $(@D)
	@{ echo 'libcudart.so.13 { global: lab32_list_unsupported; lab32_driver_symbol; lab32_cublas_symbol;'; \
	   sed -n 's/^[A-Z]*(\(.*\))$$/  \1;/p' $<; echo 'local: *; };'; } >$@

# Libraries whose names lead into the runtime, and one that is loaded before NVIDIA's NVRTC: one source.
$(LIBRARY_OBJECTS): $(BUILD)/obj/runtime/%.o: grader/runtime/small_libraries.cpp
	$(compile)
library_of = -DLAB32_NAMES='"runtime/$1"' -DLAB32_FIND='"$2"' -DLAB32_CALLED='"$3"'
$(BUILD)/obj/runtime/libcuda.o:     DEFINES = $(call library_of,driver/api.def,lab32_driver_symbol,driver) -DLAB32_DRIVER
$(BUILD)/obj/runtime/libcublas.o:   DEFINES = $(call library_of,cublas/api.def,lab32_cublas_symbol,cuBLAS)
$(BUILD)/obj/runtime/libcublasLt.o: DEFINES = $(call library_of,cublas/lt_api.def,lab32_cublas_symbol,cuBLAS)

LIBCUDA := $(BUILD)/obj/runtime/libcuda.o
NVRTC   := $(BUILD)/obj/runtime/nvrtc_lines.o
$(RUNTIME_DIR)/libcuda.so.1: $(LIBCUDA) $(NVRTC) $(RUNTIME_DIR)/libcudart.so.13
	@echo '  link $@' >&2
	@echo '{ global: cu*; lab32_simulated_driver; local: *; };' >$(@D)/driver_exports
	@$(CXX) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,$(@D)/driver_exports \
	  -Wl,-z,defs $(LIBCUDA) -o $@ -ldl
	@ln -sf $(@F) $(@D)/libcuda.so
	@mkdir -p $(@D)/absent
	@$(CXX) -shared -nostdlib -Wl,-soname,libnvJitLink.so.13 -x c++ /dev/null -o $(@D)/absent/libnvJitLink.so.13
	@$(CXX) $(CXXFLAGS) -shared $(NVRTC) -o $(@D)/libnvrtc_lines.so -ldl

# And the header for toolkits without cuBLAS.
CUBLAS := $(addprefix $(BUILD)/obj/runtime/libcublas,.o Lt.o)
$(RUNTIME_DIR)/libcublas.so.13: $(CUBLAS) $(RUNTIME_DIR)/libcudart.so.13 $(RUNTIME_DIR)/include/cublas_v2.h
	@echo '  link $@' >&2
	@for name in cublas cublasLt; do \
	  echo "lib$$name.so.13 { global: cublas*; local: *; };" >$(@D)/library_exports && \
	  $(CXX) $(CXXFLAGS) -shared -Wl,-soname,lib$$name.so.13 -Wl,--version-script,$(@D)/library_exports \
	    -Wl,-z,defs $(BUILD)/obj/runtime/lib$$name.o -o $(@D)/lib$$name.so.13 -ldl && \
	  ln -sf lib$$name.so.13 $(@D)/lib$$name.so || exit; \
	done
$(RUNTIME_DIR)/include/cublas_v2.h: grader/runtime/cublas/include/cublas_v2.h grader/runtime/cublas/api.def grader/runtime/runtime.mk
	@mkdir -p $(@D)
	@sed -n 's/^REFUSES(\(cublas.*\))$$/cublasStatus_t \1(...);/p' grader/runtime/cublas/api.def >$@.refused
	@sed -n 's/^REFUSES(\(cublas.*\)_v2)$$/#define \1 \1_v2/p;s/^REFUSES(\(cublas.*\)_v2_64)$$/#define \1_64 \1_v2_64/p' \
	  grader/runtime/cublas/api.def >>$@.refused
	@sed -e '/^.. mark: functions that are refused$$/r $@.refused' -e '/^.. mark: functions that are refused$$/d' $< >$@
	@rm $@.refused
