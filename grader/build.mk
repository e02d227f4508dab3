# The build rules of lab32. A unit is a set of folders that is compiled as one object (a unity build), because
# most of the cost of compiling a file is in headers and templates, which the files of a unit share. With
# UNITY=no each source file is an object of its own, for development of the grader.

comma        := ,
quote         = '$(subst ','\'',$1)'
# PORTABLE=yes: programs for machines without AVX2. ARCH=aarch64: programs for 64-bit Arm, cross-compiled.
PROGRAMS     := build$(if $(PORTABLE),/portable)$(if $(ARCH),/$(ARCH))
# SAN=address,undefined or SAN=thread: sanitizers of the test programs. The programs that tests start have none.
BUILD        := $(PROGRAMS)$(if $(SAN),/$(subst $(comma),-,$(SAN)))
UNITY        := yes

# ---- units ---------------------------------------------------------------------------------------

ALL_LABS     := $(patsubst data/limits/%.toml,%,$(wildcard data/limits/*.toml))

# The folders of each unit, searched recursively. A folder that is a unit of its own does not belong to the
# surrounding unit, and tests/ folders belong only to test units.
unit_services   := base toolchain device gpu pictures report simulator/ptx simulator/sass
unit_core       := simulator/core simulator/observers
unit_suites     := labs
# Whole programs (grader/runtime): the commands, and the library that programs are linked with.
unit_programs   := app/programs
unit_profiler   := runtime/profiler
unit_cudart     := runtime/cudart
unit_driver     := runtime/driver
unit_cublas     := runtime/cublas
unit_record     := runtime/record
unit_tests_core      := tests/core
unit_tests_grading   := tests/grading tests/timing tests/report tests/labs
unit_tests_fixtures  := tests/fixtures
unit_tests_runtime   := runtime/tests

SOURCES      := $(sort $(patsubst grader/%.cpp,%,$(shell find grader -name '*.cpp' -not -path 'grader/tools/measure/*')))
TEST_SOURCES := $(foreach s,$(SOURCES),$(if $(findstring /tests/,/$s),$s))
unit_tests_labs      := $(patsubst %/,%,$(sort $(dir $(filter labs/%,$(TEST_SOURCES)))))
unit_tests_others    := $(filter-out $(unit_tests_core) $(unit_tests_grading) tests/fixtures,\
                          $(patsubst %/,%,$(sort $(dir $(filter tests/%,$(TEST_SOURCES))))))
unit_bench      := tools/bench
unit_mutants    := tools/mutants

NESTED_UNITS := base/libraries simulator/core/semantics simulator/timing app/programs
folders_of    = $(or $(unit_$1),$1)
below         = $(foreach f,$(call folders_of,$1),$(filter $f/%,$(SOURCES)))
# The sources of a unit: those below its folders, without those of nested units and tests.
sources_of    = $(if $(filter tests_%,$1),$(filter $(TEST_SOURCES),$(call below,$1)),\
                  $(filter-out $(TEST_SOURCES) \
                    $(addsuffix /%,$(filter-out $(call folders_of,$1),$(NESTED_UNITS))),$(call below,$1)))
objects_of    = $(patsubst %,$(BUILD)/obj/%.o,$(if $(filter yes,$(UNITY)),$1,$(foreach u,$1,$(call sources_of,$u))))

# The longest units first, so that none is compiled alone at the end.
SIMULATOR_UNITS := core services simulator/core/semantics simulator/timing base/libraries
GRADER_UNITS := $(SIMULATOR_UNITS) grading asking
LAB_UNITS    := $(ALL_LABS:%=labs/%)
TEST_UNITS   := tests_grading tests_core tests_others tests_labs tests_fixtures
UNITS        := $(GRADER_UNITS) suites $(LAB_UNITS) app $(TEST_UNITS) bench mutants programs profiler record cudart driver cublas tests_runtime

GRADER       := $(call objects_of,$(GRADER_UNITS))
SUITES       := $(call objects_of,suites)
# One object per library; each only forwards calls to libcudart.so.13 (runtime.mk).
LIBRARY_OBJECTS := $(patsubst %,$(BUILD)/obj/runtime/%.o,libcuda libcublas libcublasLt nvrtc_lines)
OBJECTS      := $(call objects_of,$(UNITS)) $(LIBRARY_OBJECTS)

# A student waits for the first `make grade LAB=...`, so it links only the suites of the named labs until
# another target needs all suites.
ifneq ($(filter-out $(ALL_LABS),$(LAB)),)
$(error there is no lab `$(filter-out $(ALL_LABS),$(LAB))`; the labs are: $(ALL_LABS))
endif
ONLY_NAMED_LABS := $(and $(filter yes,$(UNITY)),$(LAB),$(MAKECMDGOALS),$(if $(filter-out grade report,$(MAKECMDGOALS)),,yes))
LINKED_SUITES := $(SUITES)
ifneq ($(and $(ONLY_NAMED_LABS),$(if $(wildcard $(SUITES)),,yes)),)
LINKED_SUITES := $(sort $(LAB:%=$(BUILD)/obj/labs/%.o) $(wildcard $(LAB_UNITS:%=$(BUILD)/obj/%.o)))
endif

# ---- flags ---------------------------------------------------------------------------------------

# On processors with x86-64-v3 (AVX2, FMA, …), loops over lanes process eight lanes at a time.
CPU      := $(shell grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null)
MARCH    := $(if $(PORTABLE)$(ARCH)$(filter-out $(CPU),avx2 bmi1 bmi2 f16c fma abm movbe),,-march=x86-64-v3)
# With AVX-512, loops over lanes process sixteen lanes at a time, which is a tenth faster.
AVX512   := $(if $(PORTABLE)$(ARCH)$(filter-out $(CPU),avx512f avx512bw avx512cd avx512dq avx512vl),,$(if $(MARCH),-march=x86-64-v4 -mprefer-vector-width=512))

CXX      := $(if $(ARCH),$(ARCH)-linux-gnu-)g++
# -ffp-contract=off: a PTX mul followed by an add rounds twice, on the host as on the GPU.
# -fPIC, hidden: the objects are also linked into the runtime library.
# --param: the compiler collects garbage later, which saves time.
CXXFLAGS := -std=c++17 $(MARCH) -ffp-contract=off -fPIC -fvisibility=hidden -Wall -Wextra \
            -pthread -Igrader --param ggc-min-expand=1000 --param ggc-min-heapsize=1000000
# On Arm, char is unsigned unless one asks for what it is on x86 and in device code.
ifneq ($(or $(ARCH),$(shell uname -m)),x86_64)
CXXFLAGS   += -fsigned-char
endif
INSTRUMENT :=
ifneq ($(SAN),)
# Instrumented standard headers look uninitialised to GCC 12.
CXXFLAGS   += -g1 -fno-omit-frame-pointer -Wno-maybe-uninitialized
INSTRUMENT := -fsanitize=$(SAN) -fno-sanitize-recover=all
endif
LDLIBS   := -lfmt -ldl -lcrypt -pthread
ifneq ($(ARCH),)
CROSS_LIBRARIES := build/sysroot-$(ARCH)/usr/lib/$(ARCH)-linux-gnu
LDLIBS   := -L$(CROSS_LIBRARIES) $(LDLIBS)
endif
# Warnings are errors only with the compiler used for development; a newer compiler's must not stop a student.
WERROR    = $$($(CXX) -dumpversion | sed -n 's/^12$$/-Werror/p')

# Only code that runs once per simulated instruction is optimised for speed; its loops over lanes must be
# vectorised. Functions of the core are aligned to cache lines, so that changes elsewhere do not move them.
# Tests are compiled without a try block per assertion: an exception fails its test case, reported at the
# case's line.
VECTORISE := -O1 -ftree-loop-vectorize -fvect-cost-model=dynamic -fno-math-errno
objects_below = $(filter $(patsubst %,$(BUILD)/obj/%.o,$1 $(addsuffix /%,$(call folders_of,$1))),$(OBJECTS))
OPTIMISE := -Og
$(call objects_below,core):                     OPTIMISE := $(VECTORISE) -falign-functions=64
$(call objects_below,simulator/core/semantics): OPTIMISE := $(VECTORISE) $(AVX512)
$(call objects_below,simulator/timing):         OPTIMISE := -O2
$(call objects_of,$(TEST_UNITS) tests_runtime): OPTIMISE := -O0 -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS
$(call objects_of,tests_fixtures):              OPTIMISE := -Og
ifeq ($(SAN),thread)
# Its loops use the registers of one warp, which belong to one host thread, so no race is possible.
$(call objects_below,simulator/core/semantics): INSTRUMENT :=
endif
$(call objects_below,app): DEFINES = -DLAB32_VERSION='"$(VERSION)"'
$(call objects_of,app): $(BUILD)/version

# cuda_occupancy.h and the runtime's declarations come from the toolkit, which set-up finds or installs.
TOOLKIT_HEADERS = -isystem $$(sed -n 's,^CUDA_HOME=,,p' build/toolchain.env)/include -idirafter grader/runtime/cublas/include
NEEDS_TOOLKIT := $(call objects_below,simulator/timing) $(foreach u,cudart driver cublas tests_runtime,$(call objects_below,$u))
$(NEEDS_TOOLKIT): TOOLKIT = $(TOOLKIT_HEADERS)
$(NEEDS_TOOLKIT): | setup-cuda

# ---- objects -------------------------------------------------------------------------------------

# An object is as old as the beginning of its compilation, so that a source that changes during it (an editor,
# git pull) is compiled by the next make. Otherwise objects with different versions of a header would be linked.
define compile
	@echo '  c++  $*' >&2
	@mkdir -p $(@D)
	@touch $@.begun
	@$(CXX) $(CXXFLAGS) $(INSTRUMENT) $(TOOLKIT) $(DEFINES) $(OPTIMISE) $(WERROR) -MMD -MP -c $< -o $@
	@touch -r $@.begun $@
	@rm $@.begun
endef
$(BUILD)/obj/%.o: grader/%.cpp
	$(compile)
$(BUILD)/obj/%.o: $(BUILD)/unity/%.cpp
	$(compile)
$(OBJECTS): $(BUILD)/flags | setup-packages $(if $(ARCH),setup-$(ARCH))

# Text files that are rewritten only when their contents change, so that other flags cause a rebuild, and a
# removed source causes a relink.
write_if_changed = @mkdir -p $(@D); printf '%s\n' $(TEXT) | cmp -s - $@ || printf '%s\n' $(TEXT) >$@
ifeq ($(UNITY),yes)
UNITIES := $(UNITS:%=$(BUILD)/unity/%.cpp)
$(UNITIES): TEXT = $(patsubst %,'#include "%.cpp"',$(call sources_of,$(@:$(BUILD)/unity/%.cpp=%)))
$(UNITIES): FORCE
	$(write_if_changed)
endif
$(BUILD)/flags:   TEXT = $(call quote,$(CXXFLAGS) $(INSTRUMENT) $(VECTORISE) $(AVX512))
$(BUILD)/objects: TEXT = $(call quote,$(OBJECTS) $(LINKED_SUITES))
$(BUILD)/version: TEXT = $(call quote,$(VERSION))
$(BUILD)/flags $(BUILD)/objects $(BUILD)/version: FORCE
	$(write_if_changed)
.PHONY: FORCE
FORCE:

-include $(OBJECTS:.o=.d)

# ---- programs ------------------------------------------------------------------------------------

define link
	@echo '  link $@' >&2
	@mkdir -p $(@D)
	@$(CXX) $(CXXFLAGS) $(INSTRUMENT) $(filter %.o,$^) -o $@ $(LDLIBS)
endef
$(PROGRAMS)/lab32: $(GRADER) $(call objects_of,app) $(LINKED_SUITES) $(BUILD)/objects
	$(link)
$(BUILD)/lab32_tests: $(call objects_of,$(TEST_UNITS)) $(GRADER) $(SUITES) $(BUILD)/objects
	$(link)
build/lab32_bench: $(call objects_of,bench) $(GRADER) $(SUITES) $(BUILD)/objects
	$(link)
build/lab32_bench: LDLIBS += -lbenchmark
$(call objects_of,bench): | setup-bench
build/lab32_mutants: $(call objects_of,mutants) $(GRADER) $(SUITES) $(BUILD)/objects
	$(link)

include grader/runtime/runtime.mk

# The tests start build/lab32: it is built without sanitizers.
.PHONY: program
program: $(if $(SAN),,build/lab32)
	$(if $(SAN),@$(MAKE) --no-print-directory SAN= runtime)
# Sanitizers reserve more address space than a machine has; the tests limit used memory instead.
SANITIZED := $(if $(SAN),ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
  UBSAN_OPTIONS=print_stacktrace=1 \
  TSAN_OPTIONS=die_after_fork=0:suppressions=$(CURDIR)/grader/tests/thread_sanitizer.txt \
  setarch -R)

# Tests of another architecture run in an emulator. The compilers are this machine's; what they compile is the same
# everywhere, and so are the golden texts.
EMULATED_FOLDERS := core observers ptx sass
EMULATED_GOLDEN  := grading: golden: the untouched skeleton: bank_conflicts,grading: golden: the untouched skeleton: swizzle
EMULATE = build/emulator/usr/bin/qemu-$(ARCH) -L /usr/$(ARCH)-linux-gnu -E LD_LIBRARY_PATH=$(CROSS_LIBRARIES) $<
.PHONY: emulated-tests
emulated-tests: $(BUILD)/lab32_tests | setup-emulator setup-cuda
	@$(EMULATE) -sf='$(subst $() ,$(comma),$(EMULATED_FOLDERS:%=*/tests/%/*))'
	@$(EMULATE) -tc='$(EMULATED_GOLDEN)'

# ---- set-up --------------------------------------------------------------------------------------

SETUP_PARTS := aarch64 emulator cuda openblas python jupyter wheel atheris book sheets slurm chromium
.PHONY: setup-packages setup-bench setup-format setup-lint setup-fuzz setup-test $(SETUP_PARTS:%=setup-%)
setup-packages:        ; @grader/setup/setup packages
setup-bench:           ; @grader/setup/setup packages bench
setup-format:          ; @grader/setup/setup packages format
setup-lint:            ; @grader/setup/setup packages format lint
setup-fuzz:            ; @grader/setup/setup packages fuzz
$(SETUP_PARTS:%=setup-%): setup-%: | setup-packages
	@for part in $* $(MORE_PARTS); do grader/setup/setup $$part || exit; done
# Set-up installs the parts one after the other, so that the compilers keep the other cores.
setup-test: MORE_PARTS := python wheel openblas
setup-test: | setup-cuda
	@:

# ---- lint ----------------------------------------------------------------------------------------

.PHONY: lint-format lint-python lint-tidy lint-language
CPP_FILES = $(shell find grader -name '*.h' -o -name '*.cpp')
lint-format: | setup-lint
	@clang-format --dry-run -Werror $(CPP_FILES)
lint-python: | setup-python
	@.venv/bin/ruff check --quiet --no-cache grader
# Comments, messages and pages: full sentences, numbers that agree, names of files that exist.
lint-language: | setup-python
	@$(VENV) grader/tools/lint/language.py

# clang-tidy checks whole units, so that it parses each header once. A stamp file per unit skips units that
# have not changed since they were clean.
TIDY_UNITS := $(GRADER_UNITS) suites app programs profiler record cudart driver cublas mutants
TIDY       := $(TIDY_UNITS:%=build/tidy/%.clean)
lint-tidy: $(TIDY)
build/tidy/%.clean: $(BUILD)/unity/%.cpp .clang-tidy | setup-lint setup-cuda
	@mkdir -p $(@D)
	@g++ $(TIDY_FLAGS) -MM -MP -MT $@ -MF $@.d $<
	@clang-tidy --quiet $< -- $(TIDY_FLAGS) >$@.out 2>&1 || { cat $@.out; exit 1; }
	@touch $@
TIDY_FLAGS = -std=c++17 -Igrader -DLAB32_VERSION='""' $(TOOLKIT_HEADERS)
-include $(wildcard $(TIDY:=.d))

# ---- fuzzing -------------------------------------------------------------------------------------

# libFuzzer needs clang. Only the sources that the fuzzed readers need are compiled, as two units.
# The readers of tools/fuzz/readers.cpp. All are one program, which reads what its name says.
FUZZERS      := $(addprefix build/fuzz/,ptx listing rubric values record binary submission attempts)
FUZZ_SCRIPTS := $(filter-out %/python_reader.py,$(wildcard grader/tools/fuzz/*.py))
FUZZED       := $(filter-out $(TEST_SOURCES),$(filter base/% toolchain/% simulator/ptx/% simulator/sass/listing \
                  runtime/record/% runtime/cudart/device_code report/% pictures/json \
                  simulator/observers/counters grading/rubric/% grading/engine/registry \
                  grading/declared/expression% grading/declared/elements grading/declared/declaration% \
                  grading/declared/read_launch,$(SOURCES)))
FUZZED_TEXT  := $(filter-out base/libraries/% simulator/observers/%,$(filter base/% toolchain/% simulator/%,$(FUZZED)))
FUZZED_DATA  := $(filter runtime/% report/% pictures/% grading/% simulator/observers/%,$(FUZZED))
FUZZ_OBJECTS := $(addprefix build/fuzz/obj/,text.o data.o base/libraries/toml_and_doctest.o)
FUZZ_FLAGS   := -std=c++17 -g1 -O1 -Igrader -pthread -fsanitize=address,undefined -fno-sanitize-recover=all

build/fuzz/text.cpp: TEXT = $(FUZZED_TEXT:%='#include "%.cpp"')
build/fuzz/data.cpp: TEXT = $(FUZZED_DATA:%='#include "%.cpp"')
build/fuzz/text.cpp build/fuzz/data.cpp: FORCE
	$(write_if_changed)
define fuzz-compile
	@echo '  fuzz $<' >&2
	@mkdir -p $(@D)
	@clang++ $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
endef
build/fuzz/obj/%.o: build/fuzz/%.cpp | setup-fuzz
	$(fuzz-compile)
build/fuzz/obj/%.o: grader/%.cpp | setup-fuzz
	$(fuzz-compile)
# toml++ 3.3 marks a character such as U+0403 outside strings as unreachable, and then compares it with
# whitespace. The result is right, but the sanitizer would stop there.
build/fuzz/obj/base/libraries/toml_and_doctest.o: FUZZ_FLAGS += -fno-sanitize=unreachable
build/fuzz/readers: build/fuzz/obj/tools/fuzz/readers.o $(FUZZ_OBJECTS)
	@clang++ $(FUZZ_FLAGS) -fsanitize=fuzzer $^ -o $@ -lfmt -lcrypt -lzstd -llz4
$(FUZZERS): build/fuzz/readers
	@ln -f $< $@
-include $(FUZZ_OBJECTS:.o=.d) build/fuzz/obj/tools/fuzz/readers.d
