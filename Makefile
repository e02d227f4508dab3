# lab32: `make grade` on a machine with git, make and a network is all there is to remember.
# What a target needs is installed the first time by grader/setup/setup.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 1.0.0

# ---- what can be asked for -----------------------------------------------------------------------

# For grade, on the command line. (:= so that an environment's own DIR or SEED means nothing here.)
LAB    :=
DIR    := labs
DEVICE := auto
RUBRIC :=
FORMAT := text
SEED   :=
# For class: what the learning platform exported, where results go, options of `lab32 class`.
SUBMISSIONS := submissions
OUT         := graded
OPTIONS     :=

# For dist: what its autograders grade; all labs, or `coalescing reduction`.
LABS :=

# For install.
PREFIX  := /usr/local
DESTDIR :=

# For test and test-rest: sanitizers of the tests' program, `address,undefined` or `thread`. What they start
# (build/lab32, the runtime library) stays without.
SAN    :=
# For fuzz: seconds, of all targets together; a seed of 0 is another each time.
FUZZ_SECONDS := 60
FUZZ_SEED    := 0

comma        := ,
# What may be carried to another machine: without AVX2.
PORTABLE     :=
PROGRAMS     := build$(if $(PORTABLE),/portable)
BUILD        := $(PROGRAMS)$(if $(SAN),/$(subst $(comma),-,$(SAN)))
PYTHON_TESTS := $(wildcard grader/python/tests)
RUNTIME      := $(PROGRAMS)/cudart/libcudart.so.13
DRIVER       := $(PROGRAMS)/cudart/libcuda.so.1
LIBRARIES    := $(PROGRAMS)/cudart/libcublas.so.13
MEASURED     := coalescing bank_conflicts transpose swizzle reduction shuffle occupancy model solutions races
CPP_TESTS    := $(BUILD)/lab32_tests

.PHONY: help build grade report class test test-rest test-deployment test-all install wheel dist mutants measure bench notebooks figures book sheets jupyter format \
        lint fuzz clean

help:       ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
	@echo 'for grade:  LAB=coalescing DIR=$(DIR) DEVICE=$(DEVICE) RUBRIC=data/limits FORMAT=$(FORMAT) SEED=7'
	@echo "for class:  SUBMISSIONS=canvas.zip OUT=$(OUT) OPTIONS='--roster roster.csv --labs shuffle'"

build: $(PROGRAMS)/lab32 $(RUNTIME) $(DRIVER) $(LIBRARIES)  ## compile build/lab32 and the simulated runtime

# Lost points (status 1) are a result, not an error.
grade: build/lab32 | setup-cuda  ## grade labs/, or DIR=; all labs, or LAB=
	@build/lab32 grade $(LAB) --dir '$(DIR)' --device '$(DEVICE)' --format '$(FORMAT)' \
	  $(if $(RUBRIC),--rubric '$(RUBRIC)') $(if $(SEED),--seed '$(SEED)') || test $$? -eq 1

report: build/lab32 | setup-cuda setup-python  ## report.html: points, pictures of your kernels, source with counters
	@build/lab32 report $(LAB) --dir '$(DIR)' --device '$(DEVICE)' -o report.html \
	  $(if $(RUBRIC),--rubric '$(RUBRIC)') $(if $(SEED),--seed '$(SEED)') || test $$? -eq 1

class: build/lab32 | setup-cuda setup-python  ## grade a whole class
	@build/lab32 class '$(SUBMISSIONS)' -o '$(OUT)' $(OPTIONS)

test:       ## N passed, N failed; SAN=thread: under a sanitizer
test-rest:  ## the same for what `make test` takes a part of: all submissions, all programs with all tools
test-rest: TEST_PART := --rest
test test-rest: setup-test $(CPP_TESTS) programs
	@$(SANITIZED) $(VENV) grader/setup/run_tests.py $(TEST_PART) $(if $(filter thread,$(SAN)),--threads) \
	  $(CPP_TESTS) $(if $(SAN),,$(PYTHON_TESTS))

test-deployment: setup-test build  ## packs in clean roots, a real Slurm, compare50: what installs others' software
	@$(VENV) grader/setup/run_tests.py --deployment $(PYTHON_TESTS)

test-all:   ## both, with the documented launches at full size
	@LAB32_TEST_ALL=1 $(MAKE) --no-print-directory test-rest
	@LAB32_TEST_ALL=1 $(MAKE) --no-print-directory test

install: build | setup-python  ## PREFIX=/usr/local: lab32 with labs and handouts; may be moved
	@grader/setup/install '$(DESTDIR)$(PREFIX)/lib/lab32' build
	@mkdir -p '$(DESTDIR)$(PREFIX)/bin'
	@ln -sfn ../lib/lab32/build/lab32 '$(DESTDIR)$(PREFIX)/bin/lab32'

wheel: | setup-cuda setup-python setup-wheel  ## build/wheels/lab32-*.whl: pip installs lab32, nvcc and all else but gcc
	@$(MAKE) --no-print-directory PORTABLE=yes build
	@$(VENV) grader/setup/wheel/make_wheel.py '$(VERSION)' build/portable build/wheels

dist: wheel  ## build/dist: students' pack, Gradescope's and Autolab's autograders; LABS=reduction
	@$(VENV) grader/setup/dist/make_dist.py '$(VERSION)' build/wheels/lab32-*.whl build/dist $(LABS)

mutants: build/lab32_mutants | setup-cuda setup-python  ## solutions with one thing changed: which keep their points?
	@$(VENV) -m lab32.mutants

measure: build/lab32 build/lab32_tests | setup-cuda  ## on a GPU: data/measured/* made again
	@for lab in $(MEASURED); do grader/measure/$$lab/measure.sh data/measured || exit; done

bench: build/lab32_bench | setup-cuda  ## how fast the simulator is
	@build/lab32_bench

notebooks: build/lab32 | setup-cuda setup-python  ## run labs/*/report.ipynb from top to bottom
	@$(VENV) -m lab32.notebooks labs/*/report.ipynb

figures: build/lab32 | setup-cuda setup-python  ## draw the figures of the handouts again, check those quoted
	@$(VENV) -m lab32.figures

book: | setup-python setup-book  ## build/book: all handouts as one HTML and one PDF, in English and in Chinese
	@$(VENV) -m lab32.book build/book

sheets: notebooks book | setup-sheets  ## build/sheets: all that is drawn, to be looked at: N sheets with N tiles
	@$(VENV) -m lab32.contact_sheets build/sheets

# The server's root is the checkout: reports link to handouts. It refuses root, who runs containers, unless told.
jupyter: build/lab32 | setup-cuda setup-jupyter  ## open the notebooks in JupyterLab
	@$(VENV) -m jupyterlab --ServerApp.root_dir='$(CURDIR)' --LabApp.default_url=/lab/tree/labs \
	  $(if $(filter 0,$(shell id -u)),--allow-root)

fuzz:       ## damaged input for every reader, for FUZZ_SECONDS=60
	@grader/fuzz/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_SEED) $^

format: | setup-format  ## clang-format, in place
	@clang-format -i $(CPP_FILES)

lint: lint-format lint-python lint-tidy  ## clang-format, clang-tidy and ruff have nothing to say

.PHONY: lint-format lint-python lint-tidy
lint-format: | setup-lint
	@clang-format --dry-run -Werror $(CPP_FILES)
lint-python: | setup-python
	@.venv/bin/ruff check --quiet --no-cache grader

clean:      ## remove what was built; what was installed (.venv) stays
	rm -rf build

# ---- set-up --------------------------------------------------------------------------------------

VENV := .venv/bin/python

.PHONY: setup-packages setup-bench setup-format setup-lint setup-fuzz setup-cuda setup-python setup-jupyter \
        setup-openblas setup-wheel setup-atheris setup-book setup-sheets setup-test
setup-packages:        ; @grader/setup/setup packages
setup-bench:           ; @grader/setup/setup packages bench
setup-format:          ; @grader/setup/setup packages format
setup-lint:            ; @grader/setup/setup packages format lint
setup-fuzz:            ; @grader/setup/setup packages fuzz
setup-cuda setup-openblas setup-python setup-jupyter setup-wheel setup-atheris setup-book setup-sheets: setup-%: | setup-packages
	@for part in $* $(THEN); do grader/setup/setup $$part || exit; done
# One after the other, since set-up does one thing at a time: meanwhile compilers have the cores. And in one go:
# what make finds waiting it starts when it has nothing else to start.
setup-test: THEN := python wheel openblas
setup-test: | setup-cuda
	@:

# ---- how it is built -----------------------------------------------------------------------------

# Sources are found by folder. A unit, which is a folder or the folders that are listed for it, is one
# object (unity build): its files share the headers and the templates, which are most of the cost.
# UNITY=no makes an object per file, for those who change the grader. All lie below build/obj.
UNITY    := yes
# JSON is instantiated in one of them only.
unit_services := base toolchain device record pictures report simulator/ptx simulator/sass simulator/model
unit_core     := $(addprefix simulator/core/,execute schedule memory) simulator/counters
unit_program  := .
unit_grading  := grading commands
unit_tools    := profiler commands/tools
ALL_LABS      := $(patsubst grader/checks/%/,%,$(wildcard grader/checks/*/))
unit_checks   := checks $(ALL_LABS:%=checks/%)
TEST_FOLDERS  := $(patsubst grader/%/,%,$(sort $(dir $(wildcard grader/tests/*/*.cpp))))
TEST_UNITS    := $(addprefix tests/,verdicts core fixtures)
unit_tests/verdicts := $(addprefix tests/,checks grading model report)
unit_tests/fixtures := tests tests/fixtures
unit_tests/others   := $(filter-out $(foreach u,$(TEST_UNITS),$(or $(unit_$u),$u)),$(TEST_FOLDERS))

# These configure a header before they include it, and must be the first who do: of their unit, too.
FIRST      := grading/doctest base/toml_file
# The last of these waits for the toolkit's headers; the others are optimised as their neighbours are not.
ALONE      := simulator/model/warps_at_work simulator/model/memory_path simulator/model/occupancy
folders_of  = $(foreach unit,$1,$(or $(unit_$(unit)),$(unit)))
files_of    = $(patsubst ./%,%,$(patsubst grader/%.cpp,%,$(wildcard $(addsuffix /*.cpp,$(addprefix grader/,$(folders_of))))))
members_of  = $(filter $(FIRST),$(files_of)) $(filter-out $(FIRST) $(ALONE),$(files_of))
sources_of  = $(if $(filter yes,$(UNITY)),$1 $(filter $(ALONE),$(files_of)),$(files_of))
objects_of  = $(patsubst %,$(BUILD)/obj/%.o,$(sources_of))

# The longest first, so that none is compiled alone at the end.
SIMULATOR := $(call objects_of,core simulator/core/semantics)
SERVICES  := $(call objects_of,services)
SUITES    := $(call objects_of,checks)
TOOLS     := $(call objects_of,tools)
GRADING   := $(SERVICES) $(SIMULATOR) $(call objects_of,grading)
CORE      := $(GRADING) $(SUITES) $(TOOLS)
PROGRAM   := $(call objects_of,program)

# The first `make grade` is waited for. Until something asks for more, it leaves the tools out, and with LAB= the
# suites of other labs: each of those it names is an object of its own.
FEWER := $(and $(filter yes,$(UNITY)),$(MAKECMDGOALS),$(if $(filter-out grade report,$(MAKECMDGOALS)),,yes))
ifneq ($(filter-out $(ALL_LABS),$(LAB)),)
$(error there is no lab `$(filter-out $(ALL_LABS),$(LAB))`; the labs are: $(ALL_LABS))
endif
LINKED_TOOLS  := $(if $(FEWER),$(wildcard $(TOOLS)),$(TOOLS))
LINKED_SUITES := $(SUITES)
ifneq ($(and $(FEWER),$(LAB)),)
ifeq ($(wildcard $(SUITES)),)
LINKED_SUITES := $(sort $(LAB:%=$(BUILD)/obj/checks/%.o) $(wildcard $(ALL_LABS:%=$(BUILD)/obj/checks/%.o)))
endif
endif
TESTS     := $(call objects_of,tests/others $(TEST_UNITS))
BENCH     := $(call objects_of,bench)
MUTANTS   := $(call objects_of,mutants)
CUDART    := $(call objects_of,cudart driver cublas)
LIBCUDA   := $(BUILD)/obj/driver/library/libcuda.o
NVRTC     := $(BUILD)/obj/driver/library/nvrtc_lines.o
LIBCUBLAS := $(BUILD)/obj/cublas/library/libcublas.o $(BUILD)/obj/cublas/library/libcublasLt.o
OBJECTS   := $(sort $(CORE) $(LINKED_SUITES) $(PROGRAM) $(TESTS) $(BENCH) $(MUTANTS) $(CUDART) $(LIBCUDA) $(NVRTC) $(LIBCUBLAS))
TIDY      := $(patsubst %,build/tidy/%.clean,$(call files_of,core simulator/core/semantics \
               services grading checks tools program mutants cudart driver driver/library cublas cublas/library))
CPP_FILES = $(shell find grader -name '*.h' -o -name '*.cpp')

# x86-64-v3 (AVX2, FMA, …), where the processor has all of it: loops over lanes run eight wide.
CPU      := $(shell grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null)
MARCH    := $(if $(PORTABLE)$(filter-out $(CPU),avx2 bmi1 bmi2 f16c fma abm movbe),,-march=x86-64-v3)

# And AVX-512 for the loops over lanes, where it has that: sixteen wide, a tenth faster.
WIDEST   := $(if $(PORTABLE)$(filter-out $(CPU),avx512f avx512bw avx512cd avx512dq avx512vl),,$(if $(MARCH),-march=x86-64-v4 -mprefer-vector-width=512))

# No contraction: a PTX mul followed by an add rounds twice, on the host as on the GPU.
# Position-independent and hidden, so that the same objects go into the runtime library.
CXX      := g++
# The compiler may let its memory grow before it collects garbage: a tenth to a fifth of its time.
CXXFLAGS := -std=c++17 $(MARCH) -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra \
            -pthread -Igrader --param ggc-min-expand=1000 --param ggc-min-heapsize=1000000
# What a sanitizer adds. Instrumented standard headers look uninitialised to GCC 12.
INSTRUMENT :=
ifneq ($(SAN),)
CXXFLAGS   += -g1 -fno-omit-frame-pointer -Wno-maybe-uninitialized
INSTRUMENT := -fsanitize=$(SAN) -fno-sanitize-recover=all
endif
LDLIBS   := -lfmt -ldl -lcrypt -pthread
# Only what runs once an instruction is worth much of the compiler's time. That loops over lanes become
# vectors is nearly all that matters, and takes two thirds of the time that -O2 does: with that the
# simulator would execute 1 % fewer instructions.
# Functions begin at cache lines: else a change elsewhere moves them, and one host thread is 7 % slower.
OPTIMISE := -Og
hot = $(filter $(patsubst %,$(BUILD)/obj/%.o,$1 $(addsuffix /%,$(call folders_of,$1))),$(OBJECTS))
$(call hot,core simulator/core/semantics): \
                  OPTIMISE := -O1 -ftree-loop-vectorize -fvect-cost-model=dynamic -fno-math-errno
$(call hot,core): OPTIMISE += -falign-functions=64
$(call hot,simulator/core/semantics): OPTIMISE += $(WIDEST)
$(BUILD)/obj/simulator/model/warps_at_work.o $(BUILD)/obj/simulator/model/memory_path.o: OPTIMISE = -O2
# Without a try block for each assertion, a tenth cheaper: what throws in one fails its case, at the case's line.
$(BUILD)/obj/tests/%.o:              OPTIMISE := -O0 -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS
$(BUILD)/obj/tests/fixtures.o:       OPTIMISE := -Og
ifeq ($(SAN),thread)
# Their loops are over the registers of one warp, which one host thread has: nothing there to watch.
$(call hot,simulator/core/semantics): INSTRUMENT :=
endif
$(PROGRAM): TOOLKIT = -DLAB32_VERSION='"$(VERSION)"'
$(PROGRAM): $(BUILD)/version
# Warnings are errors with the compiler we develop with; a newer one's must not stop a student.
WERROR    = $$($(CXX) -dumpversion | sed -n 's/^12$$/-Werror/p')

$(PROGRAMS)/lab32: $(GRADING) $(PROGRAM) $(LINKED_SUITES) $(LINKED_TOOLS)
$(CPP_TESTS):      $(TESTS) $(CORE)
build/lab32_mutants: $(MUTANTS) $(CORE)
build/lab32_bench: $(BENCH) $(CORE)
build/lab32_bench: LDLIBS += -lbenchmark
$(BENCH): | setup-bench

$(PROGRAMS)/lab32 $(CPP_TESTS) build/lab32_bench build/lab32_mutants: $(BUILD)/objects
	@echo '  link $@' >&2
	@$(CXX) $(CXXFLAGS) $(INSTRUMENT) $(filter %.o,$^) -o $@ $(LDLIBS)

# The CUDA runtime's names on the simulator, for whole programs (grader/cudart/README.md).
RUNTIME_OBJ := $(CUDART) $(SIMULATOR) $(SERVICES)

$(RUNTIME): LDLIBS := -lfmt -ldl -pthread -lzstd -llz4
$(RUNTIME): $(RUNTIME_OBJ) $(PROGRAMS)/cudart/exports $(BUILD)/objects
	@echo '  link $@' >&2
	@$(CXX) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,$(@D)/exports \
	  -Wl,-Bsymbolic,-z,defs $(RUNTIME_OBJ) -o $@ $(LDLIBS)
	@ln -sf $(@F) $(@D)/libcudart.so

# The driver's names, which lead into the runtime; what is loaded before NVIDIA's libraries.
$(DRIVER): $(LIBCUDA) $(NVRTC) $(RUNTIME)
	@echo '  link $@' >&2
	@echo '{ global: cu*; lab32_simulated_driver; local: *; };' >$(@D)/driver_exports
	@$(CXX) $(CXXFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,$(@D)/driver_exports \
	  -Wl,-z,defs $(LIBCUDA) -o $@ -ldl
	@ln -sf $(@F) $(@D)/libcuda.so
	@mkdir -p $(@D)/absent
	@$(CXX) -shared -nostdlib -Wl,-soname,libnvJitLink.so.13 -x c++ /dev/null -o $(@D)/absent/libnvJitLink.so.13
	@$(CXX) $(CXXFLAGS) -shared $(NVRTC) -o $(@D)/libnvrtc_lines.so -ldl

# cuBLAS' names, which lead into the runtime, too; and the header for toolkits without.
$(LIBRARIES): $(LIBCUBLAS) $(RUNTIME) $(PROGRAMS)/cudart/include/cublas_v2.h
	@echo '  link $@' >&2
	@for name in cublas cublasLt; do \
	  echo "lib$$name.so.13 { global: cublas*; local: *; };" >$(@D)/library_exports && \
	  $(CXX) $(CXXFLAGS) -shared -Wl,-soname,lib$$name.so.13 -Wl,--version-script,$(@D)/library_exports \
	    -Wl,-z,defs $(BUILD)/obj/cublas/library/lib$$name.o -o $(@D)/lib$$name.so.13 -ldl && \
	  ln -sf lib$$name.so.13 $(@D)/lib$$name.so || exit; \
	done
$(PROGRAMS)/cudart/include/cublas_v2.h: grader/cublas/include/cublas_v2.h grader/cublas/api.def
	@mkdir -p $(@D)
	@{ echo '// Those that are refused when they are called, with whatever arguments.'; \
	   sed -n 's/^REFUSES(\(cublas.*\))$$/cublasStatus_t \1(...);/p' grader/cublas/api.def; \
	   sed -n 's/^REFUSES(\(cublas.*\)_v2)$$/#define \1 \1_v2/p;s/^REFUSES(\(cublas.*\)_v2_64)$$/#define \1_64 \1_v2_64/p' \
	     grader/cublas/api.def; } >$(@D)/lab32_cublas_refused.h
	@cp $< $@

$(PROGRAMS)/cudart/exports: grader/cudart/api.def Makefile
	@mkdir -p $(@D)
	@{ echo 'libcudart.so.13 { global: lab32_list_unsupported; lab32_driver_symbol; lab32_cublas_symbol;'; sed -n 's/^[A-Z]*(\(.*\))$$/  \1;/p' $<; \
	   echo 'local: *; };'; } >$@

# cuda_occupancy.h and the runtime's declarations are the toolkit's, which set-up finds or installs.
TOOLKIT :=
TOOLKIT_HEADERS = -isystem $$(sed -n 's,^CUDA_HOME=,,p' build/toolchain.env)/include -idirafter grader/cublas/include
OCCUPANCY = $(BUILD)/obj/simulator/model/occupancy.o
$(CUDART) $(OCCUPANCY): TOOLKIT = $(TOOLKIT_HEADERS)
$(CUDART) $(OCCUPANCY): | setup-cuda

$(BUILD)/obj/%.o: grader/%.cpp
	$(compile)
$(BUILD)/obj/%.o: $(BUILD)/unity/%.cpp
	$(compile)
define compile
	@echo '  c++  $*' >&2
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $(INSTRUMENT) $(TOOLKIT) $(OPTIMISE) $(WERROR) -MMD -MP -c $< -o $@
endef
$(OBJECTS): $(BUILD)/flags | setup-packages

ifeq ($(UNITY),yes)
UNITIES := $(patsubst $(BUILD)/obj/%.o,$(BUILD)/unity/%.cpp,$(filter-out $(ALONE:%=$(BUILD)/obj/%.o) $(LIBCUDA) $(NVRTC) $(LIBCUBLAS),$(OBJECTS)))
$(UNITIES): TEXT = $(addsuffix .cpp,$(call members_of,$(@:$(BUILD)/unity/%.cpp=%)))
$(UNITIES): FORCE
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(TEXT) | cmp -s - $@ || printf '#include "%s"\n' $(TEXT) >$@
endif

# Written only when they change: other flags rebuild, a removed source relinks.
$(BUILD)/flags:   TEXT = $(CXXFLAGS) $(INSTRUMENT) $(WIDEST) $(shell grep 'OPTIMISE [:+]*=' Makefile)
$(BUILD)/objects: TEXT = $(OBJECTS) $(LINKED_TOOLS)
$(BUILD)/version: TEXT = $(VERSION)
$(BUILD)/flags $(BUILD)/objects $(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@echo $(call quote,$(TEXT)) | cmp -s - $@ || echo $(call quote,$(TEXT)) >$@
quote = '$(subst ','\'',$1)'
.PHONY: FORCE
FORCE:

-include $(OBJECTS:.o=.d)

# ---- sanitizers, fuzzing, clang-tidy ---------------------------------------------------------------

# The tests start build/lab32 and programs on the runtime: those are built without sanitizers.
.PHONY: programs
ifeq ($(SAN),)
programs: build/lab32 $(RUNTIME) $(DRIVER) $(LIBRARIES)
else
programs:
	@$(MAKE) --no-print-directory SAN= build
endif
# Address space is reserved as on no real machine, and the tests' own limits are on what is used.
SANITIZED := $(if $(SAN),ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
  UBSAN_OPTIONS=print_stacktrace=1 \
  TSAN_OPTIONS=die_after_fork=0:suppressions=$(CURDIR)/grader/tests/thread_sanitizer.txt \
  setarch -R)

# libFuzzer is clang's. Only what the readers need is built for it.
FUZZERS    := $(patsubst grader/fuzz/%.cpp,build/fuzz/%,$(wildcard grader/fuzz/*.cpp))
FUZZED     := $(patsubst %,build/fuzz/obj/%.o,$(call files_of,base simulator/ptx toolchain record) \
                $(addprefix grading/,rubric answer registry doctest) simulator/sass/listing \
                cudart/fatbin cudart/cubin)
FUZZ_FLAGS := -std=c++17 -g1 -O1 -Igrader -pthread \
              -fsanitize=address,undefined -fno-sanitize-recover=all

build/fuzz/obj/%.o: grader/%.cpp | setup-fuzz
	@echo '  fuzz $<' >&2
	@mkdir -p $(@D)
	@clang++ $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
# Of a character such as U+0403 outside strings toml++ 3.3 says it cannot come, and then compares it
# with whitespace: with the right result, but for the sanitizer's stop.
build/fuzz/obj/base/toml_file.o: FUZZ_FLAGS += -fno-sanitize=unreachable

fuzz: $(FUZZERS) $(filter-out %/python_reader.py,$(wildcard grader/fuzz/*.py)) | setup-atheris
$(FUZZERS): build/fuzz/%: build/fuzz/obj/fuzz/%.o $(FUZZED)
	@clang++ $(FUZZ_FLAGS) -fsanitize=fuzzer $^ -o $@ -lfmt -lcrypt -lzstd -llz4

-include $(FUZZED:.o=.d) $(FUZZERS:build/fuzz/%=build/fuzz/obj/fuzz/%.d)

# A stamp per source: what has not changed since it was clean is not read again. It has an ending:
# commands/tools.cpp lies beside the folder commands/tools.
lint-tidy: $(TIDY)
build/tidy/%.clean: grader/%.cpp .clang-tidy | setup-lint
	@mkdir -p $(@D)
	@g++ $(TIDY_FLAGS) $(TOOLKIT) -MM -MP -MT $@ -MF $@.d $<
	@clang-tidy --quiet $< -- $(TIDY_FLAGS) $(TOOLKIT) >$@.out 2>&1 || { cat $@.out; exit 1; }
	@touch $@
TIDY_FLAGS := -std=c++17 -Igrader
-include $(wildcard $(TIDY:=.d))
NEED_TOOLKIT := $(filter build/tidy/cudart/% build/tidy/driver/% build/tidy/cublas/% \
                  build/tidy/simulator/model/occupancy.clean,$(TIDY))
$(NEED_TOOLKIT): TOOLKIT = $(TOOLKIT_HEADERS)
$(NEED_TOOLKIT): | setup-cuda
build/tidy/main.clean: TOOLKIT = -DLAB32_VERSION='""'

# On all cores; but `make clean test` in that order.
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
else
# Not one more: a third compiler on two cores makes all three slower by a tenth.
MAKEFLAGS += -j$(shell nproc)
endif
