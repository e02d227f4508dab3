"""Runs the C++ tests on all cores and the Python tests beside them; the last line: N passed, N failed.

usage: run_tests.py [--deployment | --rest] [--threads] [DOCTEST_BINARY] [PYTEST_DIRECTORY]   (those that exist)

The C++ tests are shared out among processes: a source file's cases go to one process, since they may
build on each other; those of LONG, which do not, go one by one. So are the Python tests: a file of
LONG_PYTHON has a process of its own, all others share four. The golden tests first, since others look at
what they grade; then the longest that is left, by the times of the last run (build/test_seconds.json).
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# Files of long cases that are independent of each other: the golden ones, whose gradings the Python
# tests look at, too; then the longest first.
LONG = [
    "grading/test_golden.cpp",
    "grading/test_submissions.cpp",
    "grading/test_one_score.cpp",
    "grading/test_command_line.cpp",
    "cudart/test_programs.cpp",
    "checks/test_documented.cpp",
]
# Files of more than 5 seconds whose cases stay together, the longest first.
LONG_TOGETHER = [
    "model/test_time.cpp",
    "toolchain/test_nvcc.cpp",
    "grading/test_reference_module.cpp",
    "grading/test_labs_together.cpp",
    "grading/test_given.cpp",
    "grading/test_machine.cpp",
    "toolchain/test_leaks.cpp",
    "sass/test_hardware.cpp",
    "cublas/test_cublas.cpp",
]
# The longest first; half of their time they wait for one process.
LONG_PYTHON = ["test_programs.py", "test_explain_command.py", "test_gallery.py"]
# What puts others' software on this machine and lab32 where it is used: packs in clean roots, a real
# Slurm, compare50 in an environment of its own. With --deployment these, else all others.
DEPLOYMENT = ["test_dist.py", "test_similarity.py", "test_class_real_slurm.py", "test_install.py"]
# Of the others, --rest takes what is marked so (kRest in tests/fixtures/rest.h, pytest.mark.rest).
# With --threads all but these, which grade hundreds of files: they have no host threads that others do
# not have, and take hours where each access of memory is watched.
CORPORA = ("grading/test_golden.cpp", "grading/test_submissions.cpp", "grading/test_one_score.cpp")
# Of these, and of these suites, nothing else may run beside them: they judge the others, or they
# measure time on a GPU.
LAST_SUITE = "after all others"
NEEDS_THE_GPU = re.compile(r"device/test_gpu|test_command_line|on a GPU")

TIMES = Path("build/test_seconds.json")
COVERED = Path("build/covered_ops.txt")
GRADED = Path("build/graded")  # what tests grade that others look at, too: grader/python/tests/graded.py
RULE = "=" * 79
SUMMARY = re.compile(r"\[doctest\] test cases: *\d+ \| *(\d+) passed \| *\d+ failed")
SECONDS = re.compile(r"^(\d+\.\d+) s: ", re.MULTILINE)


@dataclass
class Unit:
    """Test cases that one process runs."""

    file: str
    cases: list = field(default_factory=list)
    whole_file: bool = True
    suite: str = ""

    def alone(self):
        has_gpu = Path("/dev/nvidiactl").exists()
        return self.suite == LAST_SUITE or (
            has_gpu and bool(NEEDS_THE_GPU.search(self.file + " ".join(self.cases)))
        )


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    seconds: dict = field(default_factory=dict)  # of each test, by name

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.seconds.update(other.seconds)


def environment():
    return dict(os.environ, LAB32_COVERED_OPS=str(COVERED.resolve()), LAB32_GRADED=str(GRADED.resolve()))


def units_of(binary, rest):
    listed = subprocess.run(
        [binary, "--list-test-cases", "--reporters=xml"],
        stdout=subprocess.PIPE, check=True, env=environment(),
    )  # fmt: skip
    files, units = {}, []
    for case in xml.etree.ElementTree.fromstring(listed.stdout).iter("TestCase"):
        file, name, suite = case.get("filename"), case.get("name"), case.get("testsuite", "")
        wanted = (case.get("skipped") == "true") == rest
        if wanted and (suite == LAST_SUITE or file.endswith(tuple(LONG))):
            units.append(Unit(file, [name], False, suite))
            continue
        unit = files.setdefault(file, Unit(file))
        if wanted:
            unit.cases.append(name)
        else:
            unit.whole_file = False
    return units + [unit for unit in files.values() if unit.cases]


def longest_first(units, seconds):
    def expected(unit):
        place = next((i for i, name in enumerate(LONG + LONG_TOGETHER) if unit.file.endswith(name)), None)
        if place == 0:
            return 1e6
        if any(case in seconds for case in unit.cases):
            return sum(seconds.get(case, 0) for case in unit.cases)
        # Never run: long ones first, as they are listed.
        return 1e6 - place if place is not None else 0.0

    return sorted(units, key=expected, reverse=True)


def worth_showing(output):
    """Without the frame of cases that had nothing to say, and without the counts."""
    shown = []
    for block in output.split(RULE):
        lines = [line for line in block.strip().splitlines() if line.strip()]
        head = [
            line for line in lines
            if re.match(r"\S+:\d+:$|TEST (CASE|SUITE): |DEEPEST SUBCASE|  +\S|\d+\.\d+ s: |\[doctest\]", line)
        ]  # fmt: skip
        if len(head) < len(lines):
            shown.append(RULE + "\n" + "\n".join(x for x in lines if "[doctest]" not in x) + "\n")
    return "".join(shown)


def run_unit(binary, unit):
    """(what it said, Tally)"""
    command = [binary, "--no-intro", "--duration", f"--source-file=*{unit.file}"]
    if not unit.whole_file:
        names = ",".join(case.replace(",", "\\,") for case in unit.cases)
        command += ["--case-sensitive", f"--test-case={names}"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment(),
    )  # fmt: skip
    tally = Tally(passed=sum(map(int, SUMMARY.findall(done.stdout))))
    # Whatever did not pass has failed: also the cases that a crash has left without their turn.
    tally.failed = max(len(unit.cases) - tally.passed, int(done.returncode != 0))
    output = worth_showing(done.stdout)
    if done.returncode < 0:
        output += f"{unit.file}: killed by signal {-done.returncode}\n"
    # doctest says a name in its own words (cut, joined lines), but in the order of the file.
    times = [float(seconds) for seconds in SECONDS.findall(done.stdout)]
    if len(times) == len(unit.cases):
        tally.seconds = dict(zip(unit.cases, times))
    return output, tally


def python_parts(directory, deployment, rest):
    """Names of files, for each process."""
    there = sorted(path.name for path in Path(directory).glob("test_*.py"))
    if deployment:
        return [[name] for name in DEPLOYMENT if name in there]
    others = [name for name in there if name not in LONG_PYTHON + DEPLOYMENT]
    # Those of the classroom, which are neighbours by name, take longest.
    shares = [others[i::4] for i in range(4)]
    return [*([name] for name in LONG_PYTHON if name in there), *shares]


def run_pytest(directory, names, more):
    """(what it said, Tally)"""
    # Not by their names: pytest runs a file that is named without asking conftest whether it can.
    others = (path for path in Path(directory).glob("test_*.py") if path.name not in names)
    arguments = [directory, *(f"--ignore={path}" for path in others), *more]
    report = Path(f"build/pytest-{Path(names[0]).stem}.xml")
    report.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
    ]
    done = subprocess.run(
        [*command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", env=environment(),
    )  # fmt: skip
    if not report.exists():
        return done.stdout, Tally(failed=1)
    tally = Tally()
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            tally.failed += 1
        elif "skipped" not in outcomes:
            tally.passed += 1
        name = f"{case.get('classname').rpartition('.')[2]}.py: {case.get('name')}"
        tally.seconds[name] = float(case.get("time"))
    # 5: there was nothing to run, as in a file that conftest leaves out and names.
    tally.failed = tally.failed or int(done.returncode not in (0, 5))
    return done.stdout, tally


def run_all(groups):
    """Of each group (jobs, how many at a time); a job is a function to (what it said, Tally). The first of a
    group are started first; whoever finds none left in their group helps the others."""
    total, lock = Tally(), threading.Lock()
    waiting = [collections.deque(jobs) for jobs, _ in groups]

    def work(own):
        while True:
            with lock:
                jobs = next((jobs for jobs in (own, *waiting) if jobs), None)
                if jobs is None:
                    return
                job = jobs.popleft()
            output, tally = job()
            with lock:
                print(output, end="", flush=True)
                total.add(tally)

    threads = [
        threading.Thread(target=work, args=(own,))
        for own, (_, workers) in zip(waiting, groups)
        for _ in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total


def main(suites):
    deployment, rest, threads = (f"--{option}" in suites for option in ("deployment", "rest", "threads"))
    suites = [suite for suite in suites if not suite.startswith("--")]
    recorded = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    TIMES.parent.mkdir(exist_ok=True)
    COVERED.unlink(missing_ok=True)
    shutil.rmtree(GRADED, ignore_errors=True)
    GRADED.mkdir()
    python, beside, alone = [], [], []
    for suite in suites:
        if os.path.isdir(suite):
            more = [] if deployment else ["-m", "rest" if rest else "not rest"]
            for part in python_parts(suite, deployment, rest):
                python.append(partial(run_pytest, suite, part, more))
            continue
        for unit in longest_first(units_of(suite, rest), recorded):
            if threads and unit.file.endswith(CORPORA):
                continue
            (alone if unit.alone() else beside).append(partial(run_unit, suite, unit))
    # Tests wait for much of their time: for a time limit, a browser, a notebook's kernel. Beside two
    # processes of Python and one more of C++ than there are cores, there is always one that can go on.
    total = run_all([(python, 2), (beside, 1 + (os.cpu_count() or 1))])
    total.add(run_all([(alone, 1)]))

    TIMES.write_text(json.dumps(recorded | total.seconds, indent=0))
    if total.passed + total.failed == 0:
        print("no test was executed: is there a grader/tests/*.cpp?", file=sys.stderr)
    slowest = sorted(total.seconds, key=total.seconds.get, reverse=True)[:2]
    for name in slowest:
        print(f"slowest: {total.seconds[name]:.1f} s, {name}")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
