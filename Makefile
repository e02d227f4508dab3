# lab32: `make grade` on a machine with git, make and a network is all there is to remember.
# What a target needs is installed the first time by grader/setup/setup.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# ---- what can be asked for -----------------------------------------------------------------------

# For grade, on the command line. (:= so that an environment's own DIR or SEED means nothing here.)
LAB    :=
DIR    := labs
DEVICE := auto
FORMAT := text
SEED   :=

PYTHON_TESTS := $(wildcard grader/python/tests)
RUNTIME      := build/cudart/libcudart.so.13
MEASURED     := coalescing bank_conflicts transpose swizzle reduction shuffle model solutions
CPP_TESTS    := $(if $(wildcard grader/tests/*.cpp),build/lab32_tests)

.PHONY: help build grade test test-all measure bench notebooks figures jupyter format lint clean

help:       ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
	@echo 'for grade:  LAB=coalescing DIR=$(DIR) DEVICE=$(DEVICE) FORMAT=$(FORMAT) SEED=7'

build: build/lab32 $(RUNTIME)  ## compile build/lab32 and the simulated runtime

# Lost points (status 1) are a result, not an error.
grade: build/lab32 | setup-cuda  ## grade labs/, or DIR=; all labs, or LAB=
	@build/lab32 grade $(LAB) --dir '$(DIR)' --device '$(DEVICE)' --format '$(FORMAT)' \
	  $(if $(SEED),--seed '$(SEED)') || test $$? -eq 1

test: build/lab32 $(RUNTIME) $(CPP_TESTS) | setup-cuda setup-python  ## every test: N passed, N failed
	@$(VENV) grader/setup/run_tests.py $(CPP_TESTS) $(PYTHON_TESTS)

test-all: export LAB32_TEST_ALL := 1
test-all: test  ## the same, with the documented launches at full size

measure: build/lab32 build/lab32_tests | setup-cuda  ## on a GPU: data/measured/* made again
	@for lab in $(MEASURED); do data/measured/$$lab/measure.sh data/measured || exit; done

bench: build/lab32_bench | setup-cuda  ## how fast the simulator is
	@build/lab32_bench

notebooks: build/lab32 | setup-cuda setup-python  ## run labs/*/report.ipynb from top to bottom
	@$(VENV) -m lab32.notebooks labs/*/report.ipynb

figures: build/lab32 | setup-cuda setup-python  ## draw the figures of the handouts again, check those quoted
	@$(VENV) -m lab32.figures

jupyter: build/lab32 | setup-cuda setup-jupyter  ## open the notebooks in JupyterLab
	@$(VENV) -m jupyterlab labs

format: | setup-format  ## clang-format, in place
	@clang-format -i $(CPP_FILES)

lint: | setup-format  ## complain of what `make format` would change
	@clang-format --dry-run -Werror $(CPP_FILES)

clean:      ## remove what was built; what was installed (.venv) stays
	rm -rf build

# ---- set-up --------------------------------------------------------------------------------------

VENV := .venv/bin/python

.PHONY: setup-packages setup-bench setup-format setup-cuda setup-python setup-jupyter
setup-packages:        ; @grader/setup/setup packages
setup-bench:           ; @grader/setup/setup packages bench
setup-format:          ; @grader/setup/setup packages format
setup-cuda setup-python setup-jupyter: setup-%: | setup-packages
	@grader/setup/setup $*

# ---- how it is built -----------------------------------------------------------------------------

ROOMS    := base ptx sim sass observers model device compile labs report programs
CORE     := $(patsubst grader/%.cpp,build/obj/%.o,$(wildcard $(ROOMS:%=grader/%/*.cpp)))
MAIN     := build/obj/main.o
TESTS    := $(patsubst grader/%.cpp,build/obj/%.o,$(wildcard grader/tests/*.cpp))
BENCH    := $(patsubst grader/%.cpp,build/obj/%.o,$(wildcard grader/bench/*.cpp))
CUDART   := $(patsubst grader/%.cpp,build/obj/%.o,$(wildcard grader/cudart/*.cpp))
OBJECTS  := $(CORE) $(MAIN) $(TESTS) $(BENCH) $(CUDART)
CPP_FILES = $(shell find grader -name '*.h' -o -name '*.cpp')

# x86-64-v3 (AVX2, FMA, …), where the processor has all of it: loops over lanes run eight wide.
CPU      := $(shell grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null)
MARCH    := $(if $(filter-out $(CPU),avx2 bmi1 bmi2 f16c fma abm movbe),,-march=x86-64-v3)

# No contraction: a PTX mul followed by an add rounds twice, on the host as on the GPU.
# Position-independent and hidden, so that the same objects go into the runtime library.
CXX      := g++
CXXFLAGS := -std=c++17 -g1 $(MARCH) -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra \
            -pthread -Igrader -DTOML_HEADER_ONLY=1 -DLAB32_ROOT='"$(CURDIR)"'
LDLIBS   := -lfmt -ldl -pthread
OPTIMISE := -O2
build/obj/sim/%.o: OPTIMISE := -O3
# Warnings are errors with the compiler we develop with; a newer one's must not stop a student.
WERROR    = $$($(CXX) -dumpversion | sed -n 's/^12$$/-Werror/p')

build/lab32:       $(MAIN) $(CORE)
build/lab32_tests: $(TESTS) $(CORE)
build/lab32_bench: $(BENCH) $(CORE)
build/lab32_bench: LDLIBS += -lbenchmark
$(BENCH): | setup-bench

build/lab32 build/lab32_tests build/lab32_bench: build/objects
	@echo '  link $@' >&2
	@$(CXX) $(CXXFLAGS) $(filter %.o,$^) -o $@ $(LDLIBS)

# The CUDA runtime's names on the simulator, for whole programs (grader/cudart/README.md).
RUNTIME_OF  := base ptx sim sass observers model device compile
RUNTIME_OBJ := $(CUDART) build/obj/report/launch_record.o \
               $(filter $(RUNTIME_OF:%=build/obj/%/%),$(CORE))

$(RUNTIME): LDLIBS += -lzstd -llz4
$(RUNTIME): $(RUNTIME_OBJ) build/cudart/exports build/objects
	@echo '  link $@' >&2
	@$(CXX) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,build/cudart/exports \
	  -Wl,-z,defs $(RUNTIME_OBJ) -o $@ $(LDLIBS)
	@ln -sf $(@F) build/cudart/libcudart.so

build/cudart/exports: grader/cudart/api.def
	@mkdir -p $(@D)
	@{ echo 'libcudart.so.13 { global:'; sed -n 's/^[A-Z]*(\(.*\))$$/  \1;/p' $<; \
	   echo 'local: *; };'; } >$@

# cuda_occupancy.h and the runtime's declarations are the toolkit's, which set-up finds or installs.
TOOLKIT :=
$(CUDART) build/obj/model/occupancy.o: TOOLKIT = -isystem $$(sed -n 's,^CUDA_HOME=,,p' build/toolchain.env)/include
$(CUDART) build/obj/model/occupancy.o: | setup-cuda

$(OBJECTS): build/obj/%.o: grader/%.cpp build/flags | setup-packages
	@echo '  c++  $<' >&2
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $(TOOLKIT) $(OPTIMISE) $(WERROR) -MMD -MP -c $< -o $@

# Written only when they change: other flags rebuild, a removed source relinks.
build/flags:   TEXT = $(CXXFLAGS)
build/objects: TEXT = $(OBJECTS)
build/flags build/objects: FORCE
	@mkdir -p build
	@echo $(call quote,$(TEXT)) | cmp -s - $@ || echo $(call quote,$(TEXT)) >$@
quote = '$(subst ','\'',$1)'
.PHONY: FORCE
FORCE:

-include $(OBJECTS:.o=.d)

# On all cores; but `make clean test` in that order.
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
else
MAKEFLAGS += -j$(shell nproc)
endif
