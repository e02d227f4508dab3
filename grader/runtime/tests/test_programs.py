"""Whole programs under `lab32 run`, `check` and `profile` (grader/runtime/tests/programs)."""

import csv
import importlib.util
import re
import subprocess

import pytest

from lab32 import ROOT

pytestmark = pytest.mark.slow

SPEC = importlib.util.spec_from_file_location("corpus", ROOT / "grader/runtime/tests/programs/corpus.py")
corpus = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(corpus)

LAB32 = str(ROOT / "build/lab32")
CASES = corpus.cases()


def is_run(case):
    """Whether the case has a defined result; an undefined one is run only for its messages."""
    return case.gpu != "undefined" or bool(case.stderr)


def try_out(case, tools, file, before, directory):
    """Runs the tools (of run, check and profile) on one case of the program in `file`. The words
    `before` precede its arguments."""
    def lab32(tool, *options):  # fmt: skip
        command = [LAB32, tool, "--gpus", str(case.gpus), *options,
                   str(file), *case.nvcc, "--", *before, *case.arguments]  # fmt: skip
        folder = file.parent if file == case.source else corpus.HERE
        done = corpus.execute(command, case.stdin, folder=folder)
        done.stdout, done.stderr = (corpus.as_alone(text, case) for text in (done.stdout, done.stderr))
        return done

    table = directory / f"{case.name.replace(' ', '-')}.csv"
    names = ",".join(sorted({metric for _, metric, _ in case.metrics}))
    return {
        "run": "run" in tools and lab32("run"),
        "check": "check" in tools and lab32("check"),
        "profile": "profile" in tools and lab32("profile", "--metrics", names, "--csv", str(table)),
        "table": table,
    }


@pytest.fixture(scope="module")
def results(request, tmp_path_factory):
    """Runs all requested cases, two files at a time, because nvcc takes most of the time."""
    directory = tmp_path_factory.mktemp("programs")
    files = corpus.together(directory)
    tools = {}
    for item in request.session.items:
        if item.originalname in TOOLS and hasattr(item, "callspec"):
            tools.setdefault(item.callspec.params["case"].name, set()).add(TOOLS[item.originalname])

    def all_of(file):
        return {c.name: try_out(c, tools[c.name], *files[c.program], directory)
                for c in CASES if c.name in tools and files[c.program][0] == file}  # fmt: skip

    used = list(dict.fromkeys(files[c.program][0] for c in CASES if c.name in tools))
    return {name: r for part in corpus.two_at_a_time(all_of, used) for name, r in part.items()}


TOOLS = {"test_run": "run", "test_check": "check", "test_profile": "profile"}
def each(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@each([c for c in CASES if is_run(c)])
def test_run(case, results):
    run = results[case.name]["run"]
    if case.gpu != "undefined":
        assert run.stdout == case.stdout, run.stderr
        assert run.returncode == case.status, run.stderr
    for part in case.stderr:
        assert part in run.stderr


@each(CASES)
def test_check(case, results):
    check = results[case.name]["check"]
    if case.gpu == "differs":
        assert check.returncode == 2
        return
    n = sum(case.hazards.values())
    kinds = ", ".join(f"{kind} {case.hazards[kind]}" for kind in corpus.KINDS)
    last = check.stdout.rstrip().splitlines()[-1]
    assert last == f"lab32 check: {n} hazard{'' if n == 1 else 's'} ({kinds})", (
        check.stdout + check.stderr
    )
    assert check.returncode == (1 if n or case.stopped else case.status)


@each([c for c in CASES if c.metrics])
def test_profile(case, results):
    profile = results[case.name]["profile"]
    assert profile.returncode == case.status, profile.stderr
    with open(results[case.name]["table"], newline="") as file:
        rows = list(csv.DictReader(corpus.as_alone(file.read(), case).splitlines()))
    for kernel, metric, value in case.metrics:
        first = next(
            row for row in rows
            if re.match(rf"{kernel}\b", row["Kernel Name"]) and row["Metric Name"] == metric
        )  # fmt: skip
        assert float(first["Metric Value"].replace(",", "")) == value, (kernel, metric)


def test_check_prints_what_it_has_found_when_a_signal_ends_the_program(tmp_path):
    """`timeout` sends SIGTERM to lab32 and to the program, another parent process to lab32 alone."""
    program = tmp_path / "waits.cu"
    program.write_text(WAITS)
    for before in (["timeout", "-s", "TERM", "60"], []):
        command = subprocess.Popen([*before, LAB32, "check", program], stdout=subprocess.PIPE, text=True)
        assert command.stdout.readline() == "waits\n"
        command.terminate()
        out, _ = command.communicate(timeout=60)
        assert "1 hazard (memory 1," in out
        assert "the program was killed by SIGTERM" in out
        assert command.returncode in (1, 124)


WAITS = """#include <cstdio>
#include <unistd.h>
__global__ void beyond(int* a) { a[4] = 1; }
int main() {
  int* a;
  cudaMalloc(&a, 16);
  beyond<<<1, 1>>>(a);
  puts("waits");
  fflush(stdout);
  for (;;) pause();
}
"""


def test_profile_says_why_no_kernel_ran():
    program = corpus.HERE / "errors/failed_calls.cu"
    profile = corpus.execute([LAB32, "profile", program, "--", "threads"])
    line = 1 + program.read_text().splitlines().index(next(
        line for line in program.read_text().splitlines() if "fill<<<1, 1025>>>" in line))  # fmt: skip
    assert f"failed_calls.cu:{line}: cudaLaunchKernel failed" in profile.stderr
    assert "1025 threads per block, but `fill` may have at most 1024" in profile.stderr


def test_the_corpus_is_whole():
    assert len({case.program for case in CASES}) >= 40
    faulty = [case.hazards for case in CASES]
    assert all(any(hazards[kind] for hazards in faulty) for kind in corpus.KINDS)


def test_check_refuses_tiles_of_several_warps_by_name():
    program = corpus.HERE.parent / "calls/large_tiles.cu"
    check = corpus.execute([LAB32, "check", program])
    assert check.returncode == 2
    assert "`tiles(int*)` has tiles of more than 32 threads" in check.stdout + check.stderr
    # The line of the launch, not that of the kernel, nor of what nvcc puts between them.
    number = 1 + program.read_text().splitlines().index("  tiles<<<2, 256, 1024>>>(wrong);")
    assert f"large_tiles.cu:{number}: cudaLaunchKernel: `tiles(int*)`" in check.stderr
