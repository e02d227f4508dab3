# lab32: `make grade` works on any machine with git, make and a network.
# This file has the targets for users; grader/build.mk has the build rules. grader/setup/setup installs the
# packages that a target needs when it is first made.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 1.0.0

# For grade and report. (:= keeps DIR or SEED of the environment from having an effect.)
LAB    :=
DIR    := labs
DEVICE := auto
RUBRIC :=
FORMAT := text
SEED   :=
# For class: the learning platform's export, the folder for results, options of `lab32 class`.
SUBMISSIONS := submissions
OUT         := graded
OPTIONS     :=
# For dist: the labs that its autograders grade (default: all). For dist and wheel: a course.toml.
LABS   :=
COURSE :=
# For install.
PREFIX  := /usr/local
DESTDIR :=
# For test and test-slow: sanitizers, `address,undefined` or `thread`.
SAN :=
# For fuzz: total seconds of all targets; a seed of 0 stands for a new seed each time.
FUZZ_SECONDS := 60
FUZZ_SEED    := 0

VENV := .venv/bin/python
include grader/build.mk

.PHONY: help build runtime grade report class test test-slow test-full test-arm install wheel dist mutants measure \
        bench notebooks figures book sheets jupyter format lint fuzz clean

help:       ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
	@echo 'for grade:  LAB=coalescing DIR=$(DIR) DEVICE=$(DEVICE) RUBRIC=data/limits FORMAT=$(FORMAT) SEED=7'
	@echo "for class:  SUBMISSIONS=canvas.zip OUT=$(OUT) OPTIONS='--roster roster.csv --labs shuffle'"

build: $(PROGRAMS)/lab32  ## compile build/lab32

runtime: build $(RUNTIME)  ## the simulated CUDA runtime: lab32 run, profile, check, nvcc

GRADE_OPTIONS = $(LAB) --dir '$(DIR)' --device '$(DEVICE)' $(if $(RUBRIC),--rubric '$(RUBRIC)') $(if $(SEED),--seed '$(SEED)')
# Lost points (status 1) are a result, not an error.
grade: build/lab32 | setup-cuda  ## grade labs/, or DIR=; all labs, or LAB=
	@build/lab32 grade $(GRADE_OPTIONS) --format '$(FORMAT)' || test $$? -eq 1

report: build/lab32 | setup-cuda setup-python  ## report.html: points, pictures of your kernels, source with counters
	@build/lab32 report $(GRADE_OPTIONS) -o report.html || test $$? -eq 1

class: build/lab32 | setup-cuda setup-python  ## grade a whole class
	@build/lab32 class '$(SUBMISSIONS)' -o '$(OUT)' $(OPTIONS)

test: setup-test $(BUILD)/lab32_tests program  ## run the fast tests: N passed, N failed; SAN=thread: under a sanitizer
	@$(SANITIZED) $(VENV) grader/setup/run_tests.py fast $(BUILD)/lab32_tests

test-slow: setup-test $(BUILD)/lab32_tests $(BUILD)/runtime_tests program $(if $(SAN),,runtime)  ## run the slow tests: every submission, programs, browsers, clean roots
	@$(SANITIZED) $(VENV) grader/setup/run_tests.py slow $(BUILD)/lab32_tests $(BUILD)/runtime_tests

test-full:  ## run test and test-slow, with the documented launches at full size
	@LAB32_TEST_ALL=1 $(MAKE) --no-print-directory test-slow
	@LAB32_TEST_ALL=1 $(MAKE) --no-print-directory test

test-arm:   ## cross-compile for 64-bit Arm; run the simulator's tests, and two labs' golden texts, in an emulator
	@$(MAKE) --no-print-directory ARCH=aarch64 emulated-tests

install: runtime | setup-python  ## install lab32, labs and handouts in PREFIX=/usr/local; may be moved
	@grader/setup/install '$(DESTDIR)$(PREFIX)/lib/lab32' build
	@mkdir -p '$(DESTDIR)$(PREFIX)/bin'
	@ln -sfn ../lib/lab32/build/lab32 '$(DESTDIR)$(PREFIX)/bin/lab32'

wheel: | setup-cuda setup-python setup-wheel  ## build/wheels/lab32-*.whl: a wheel with which pip installs all except gcc; ARCH=aarch64
	@$(if $(ARCH),$(MAKE) --no-print-directory ARCH= build)
	@$(MAKE) --no-print-directory $(if $(ARCH),,PORTABLE=yes) runtime
	@$(VENV) grader/setup/wheel/make_wheel.py '$(VERSION)' build/$(or $(ARCH),portable) build/wheels $(COURSE)

dist: wheel  ## build/dist: students' pack, autograders, a workflow; LABS=reduction COURSE=course.toml
	@$(VENV) grader/setup/dist/make_dist.py '$(VERSION)' build/wheels/lab32-*$(or $(ARCH),$(shell uname -m)).whl build/dist $(LABS)

mutants: build/lab32_mutants | setup-cuda setup-python  ## grade solutions with one change each, and list those that keep their points
	@$(VENV) -m mutants.mutants

measure: runtime build/lab32_tests | setup-cuda  ## measure data/measured/* again, on a GPU
	@for script in grader/labs/*/measure/measure.sh grader/tools/calibration/measure.sh grader/tools/measure/solutions/measure.sh grader/tools/measure/races/measure.sh; do \
	  $$script data/measured || exit; done

bench: build/lab32_bench | setup-cuda  ## benchmark the simulator
	@build/lab32_bench

notebooks: build/lab32 | setup-cuda setup-python  ## run labs/*/report.ipynb from top to bottom
	@$(VENV) -m lab32.notebooks labs/*/report.ipynb

figures: build/lab32 | setup-cuda setup-python  ## update figures and tables of the handouts, check quoted numbers
	@$(VENV) -m handouts.figures

book: | setup-python setup-book  ## build/book: all handouts as one HTML and one PDF, in English and in Chinese
	@$(VENV) -m handouts.book build/book

sheets: notebooks book | setup-sheets  ## build/sheets: everything that is drawn, on contact sheets, for inspection
	@$(VENV) -m handouts.contact_sheets build/sheets

# The server's root is the checkout, because reports link to handouts. For root, as in containers, Jupyter
# needs --allow-root.
jupyter: build/lab32 | setup-cuda setup-jupyter  ## open the notebooks in JupyterLab
	@$(VENV) -m jupyterlab --ServerApp.root_dir='$(CURDIR)' --LabApp.default_url=/lab/tree/labs \
	  $(if $(filter 0,$(shell id -u)),--allow-root)

fuzz: $(FUZZERS) $(FUZZ_SCRIPTS) | setup-atheris  ## run every reader on damaged input, for FUZZ_SECONDS=60
	@grader/tools/fuzz/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_SEED) $^

format: | setup-format  ## run clang-format in place
	@clang-format -i $(CPP_FILES)

lint: lint-format lint-python lint-language lint-tidy  ## check with clang-format, clang-tidy, ruff and language.py

clean:      ## remove build/; installed packages (.venv) stay
	rm -rf build

# Targets run in parallel, except `make clean test`, which must keep its order.
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
else
# One job per core: a third compiler on two cores makes all three slower by a tenth.
MAKEFLAGS += -j$(shell nproc)
endif
