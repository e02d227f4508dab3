"""What a first `make grade LAB=...` leaves out of build/lab32 is named when it is asked for."""

import os
import subprocess

import pytest

from lab32 import ROOT

OBJECTS = ROOT / "build" / "obj"


@pytest.fixture(scope="module")
def first_build(tmp_path_factory):
    """lab32 without checks.o and tools.o, and without the suite that such a build has."""
    program = tmp_path_factory.mktemp("first") / "lab32"
    parts = ["services", "core", "grading", "program"]
    objects = [OBJECTS / f"{part}.o" for part in parts]
    objects += sorted((OBJECTS / "simulator").rglob("*.o"))
    subprocess.run(["g++", *objects, "-o", program, "-lfmt", "-ldl", "-lcrypt", "-pthread"], check=True)
    return program


def say(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True,
                          env=os.environ | {"LAB32_ROOT": str(ROOT)})  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["run", "profile", "check", "explain", "nvcc", "class", "similarity"])
def test_commands_that_are_left_out(first_build, command):
    code, out, err = say(first_build, command, "x.cu")
    assert (code, out) == (2, "")
    assert err == (f"lab32: `{command}` is not in this lab32, which `make grade` has built with what grading needs; "
                   "`make build` adds the rest\n")  # fmt: skip


def test_labs_that_are_left_out(first_build):
    code, _, err = say(first_build, "grade")
    assert code == 2 and err.startswith("lab32: name a lab: `make grade` has built this lab32 for ")
    code, _, err = say(first_build, "grade", "shuffle")
    assert code == 2 and err.startswith("lab32: there is no lab `shuffle` here: `make grade` has built this lab32 for ")


def test_the_rest_is_there(first_build):
    code, out, _ = say(first_build, "--help")
    assert code == 0 and "profile" in out and "explain" in out


def test_a_lab_that_is_none_is_refused_before_anything_is_compiled():
    done = subprocess.run(["make", "grade", "LAB=shufle"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "c++" not in done.stderr
    assert "*** there is no lab `shufle`; the labs are: bank_conflicts coalescing " in done.stderr
