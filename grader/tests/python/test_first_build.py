"""Parts that build/lab32 may lack: the suites of other labs after a first `make grade LAB=...`, and always the
commands for whole programs, which build/runtime/lab32 has."""

import os
import subprocess

import pytest

from lab32 import ROOT

OBJECTS = ROOT / "build" / "obj"


def say(program, *words, root=ROOT):
    done = subprocess.run([program, *words], capture_output=True, text=True,
                          env=os.environ | {"LAB32_ROOT": str(root)})  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def first_build(tmp_path_factory):
    """lab32 without suites.o and without the suite of one lab, as after a first build for others."""
    program = tmp_path_factory.mktemp("first") / "lab32"
    objects = [OBJECTS / f"{unit}.o" for unit in ("services", "core", "grading", "asking", "app", "base/libraries")]
    objects += sorted((OBJECTS / "simulator").rglob("*.o"))
    subprocess.run(["g++", *objects, "-o", program, "-lfmt", "-ldl", "-lcrypt", "-pthread"], check=True)
    return program


@pytest.mark.slow
@pytest.mark.parametrize("command", ["class", "similarity"])
def test_commands_for_all_labs_are_refused(first_build, command):
    code, out, err = say(first_build, command, "x")
    assert (code, out) == (2, "")
    assert err == (f"lab32: `{command}` is not part of this lab32, which `make grade` built with only the parts that grading needs; "
                   "`make build` adds the rest\n")  # fmt: skip


@pytest.mark.slow
def test_labs_missing_from_the_first_build_are_named(first_build):
    code, _, err = say(first_build, "grade")
    assert code == 2 and err.startswith("lab32: name a lab: `make grade` has built this lab32 for ")
    code, _, err = say(first_build, "grade", "shuffle")
    assert code == 2 and err.startswith("lab32: there is no lab `shuffle` here: `make grade` has built this lab32 for ")


def test_the_help_lists_every_command():
    code, out, _ = say(ROOT / "build/lab32", "--help")
    assert code == 0
    listed = {line.split()[0] for line in out.split("Subcommands:")[1].splitlines() if line.strip()}
    assert {"grade", "explain", "class", "run", "profile", "check", "nvcc"} <= listed


@pytest.fixture
def tree(tmp_path):
    """A folder laid out like a checkout, with a runtime program that prints its arguments."""
    (tmp_path / "data/limits").mkdir(parents=True)
    (tmp_path / "labs/include").mkdir(parents=True)
    (tmp_path / "grader").symlink_to(ROOT / "grader")
    guest = tmp_path / "build/runtime/lab32"
    guest.parent.mkdir(parents=True)
    guest.write_text('#!/bin/sh\nprintf "[%s]" "$@"\nexit 7\n')
    guest.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("words", [
    ("run", "x.cu", "-DN=1", "--", "--help", ""), ("profile", "x.cu", "--csv", "y"), ("check", "x.cu"),
    ("nvcc", "--version"), ("explain", "x.cu", "--line", "3"),
])  # fmt: skip
def test_commands_for_whole_programs_start_the_runtimes_program(tree, words):
    assert say(ROOT / "build/lab32", *words, root=tree) == (7, "".join(f"[{word}]" for word in words), "")


def test_a_missing_runtime_program_is_built_or_reported(tree):
    guest = tree / "build/runtime/lab32"
    made = tree / "made"
    guest.rename(made)
    (tree / "Makefile").write_text("runtime:\n\t@echo building; mv made build/runtime/lab32\n")
    code, out, err = say(ROOT / "build/lab32", "check", "x.cu", root=tree)
    assert (code, out) == (7, "[check][x.cu]")
    assert err == "lab32: building the simulated CUDA runtime, once (make runtime; minutes)\n"
    guest.unlink()
    code, out, err = say(ROOT / "build/lab32", "check", "x.cu", root=tree)
    assert (code, out) == (2, "")
    assert err.endswith("lab32: the simulated CUDA runtime could not be built; `make runtime` says why\n")
    (tree / "grader").unlink()
    code, out, err = say(ROOT / "build/lab32", "check", "x.cu", root=tree)
    assert (code, out, err) == (2, "", f"lab32: {guest}: this lab32 was installed without the runtime for whole programs\n")


def test_an_unknown_lab_is_refused_before_anything_is_compiled():
    done = subprocess.run(["make", "grade", "LAB=shufle"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "c++" not in done.stderr
    assert "*** there is no lab `shufle`; the labs are: bank_conflicts coalescing " in done.stderr
