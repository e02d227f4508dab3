"""Runs the C++ tests on all cores and the Python tests beside them. The last line is: N passed, N failed.

usage: run_tests.py fast|slow DOCTEST_BINARY...

Slow tests are marked in their source: `* kSlow` (tests/fixtures/slow.h), pytest.mark.slow. doctest and pytest run
the tests that they find. The C++ cases of a file run in one process, since they may build on each other; slow
cases, and those whose names begin with "grading: golden:", run in a process each. Python's slow tests run in a
process per file, its fast tests in a few processes. The golden tests start first, since other tests read their
results; the others start in the order of their times in the last run (build/test_seconds.json), the longest first.
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

# This suite runs alone, since it checks the other suites. Tests that measure time on a GPU run
# alone, too.
LAST_SUITE = "after all others"
NEEDS_THE_GPU = re.compile(r"device/test_gpu|test_command_line|on a GPU")
# These tests grade hundreds of files on one host thread. They are left out under ThreadSanitizer,
# which slows down each access to memory.
CORPORA = ("grading/test_golden.cpp", "grading/test_submissions.cpp", "grading/test_one_score.cpp")
# The folders with Python tests.
PYTHON_PROCESSES = 8  # they share the files of the fast tests
PYTHON_FOLDERS = ["grader/tests/python", "grader/labs", "grader/runtime/tests"]

TIMES = Path("build/test_seconds.json")
COVERED = Path("build/covered_ops.txt")
GRADED = Path("build/graded")  # results of gradings that several tests read: grader/tests/python/graded.py
RULE = "=" * 79
SUMMARY = re.compile(r"\[doctest\] test cases: *\d+ \| *(\d+) passed \| *\d+ failed")
SECONDS = re.compile(r"^(\d+\.\d+) s: ", re.MULTILINE)


@dataclass
class TestCasesOfProcess:
    """Test cases that one process runs."""

    file: str
    cases: list = field(default_factory=list)
    whole_file: bool = True
    suite: str = ""

    def runs_alone(self):
        has_gpu = Path("/dev/nvidiactl").exists()
        return self.suite == LAST_SUITE or (
            has_gpu and bool(NEEDS_THE_GPU.search(self.file + " ".join(self.cases)))
        )


@dataclass
class TestTally:
    passed: int = 0
    failed: int = 0
    seconds: dict = field(default_factory=dict)  # of each test, by name

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.seconds.update(other.seconds)


def environment_of_tests():
    return dict(os.environ, LAB32_COVERED_OPS=str(COVERED.resolve()), LAB32_GRADED=str(GRADED.resolve()))


def list_test_units(binary, slow):
    listed = subprocess.run(
        [binary, "--list-test-cases", "--reporters=xml"],
        stdout=subprocess.PIPE, check=True, env=environment_of_tests(),
    )  # fmt: skip
    files, units = {}, []
    for case in xml.etree.ElementTree.fromstring(listed.stdout).iter("TestCase"):
        file, name, suite = case.get("filename"), case.get("name"), case.get("testsuite", "")
        wanted = (case.get("skipped") == "true") == slow
        if wanted and (slow or suite == LAST_SUITE or name.startswith("grading: golden:")):
            units.append(TestCasesOfProcess(file, [name], False, suite))
            files.setdefault(file, TestCasesOfProcess(file)).whole_file = False
            continue
        unit = files.setdefault(file, TestCasesOfProcess(file))
        if wanted:
            unit.cases.append(name)
        else:
            unit.whole_file = False
    return units + [unit for unit in files.values() if unit.cases]


def sort_longest_first(units, seconds):
    def expected_seconds(unit):
        if unit.cases[0].startswith("grading: golden:"):
            return 1e6
        return sum(seconds.get(case, 1.0) for case in unit.cases)

    return sorted(units, key=expected_seconds, reverse=True)


def informative_test_output(output):
    """Returns the output without cases that printed nothing of their own, and without the counts."""
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


def run_test_unit_and_tally(binary, unit):
    """Returns (output, TestTally)."""
    command = [binary, "--no-intro", "--duration", f"--source-file=*{unit.file}"]
    if not unit.whole_file:
        names = ",".join(case.replace(",", "\\,") for case in unit.cases)
        command += ["--case-sensitive", f"--test-case={names}"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment_of_tests(),
    )  # fmt: skip
    tally = TestTally(passed=sum(map(int, SUMMARY.findall(done.stdout))))
    # Each case that did not pass has failed, including those that did not run because of a crash.
    tally.failed = max(len(unit.cases) - tally.passed, int(done.returncode != 0))
    output = informative_test_output(done.stdout)
    if done.returncode < 0:
        output += f"{unit.file}: killed by signal {-done.returncode}\n"
    # doctest changes names (it cuts them and joins lines), but prints the cases in the order of the file.
    times = [float(seconds) for seconds in SECONDS.findall(done.stdout)]
    if len(times) == len(unit.cases):
        tally.seconds = dict(zip(unit.cases, times))
    return output, tally


def python_test_files(slow):
    """Lists the files that may have Python tests of that tier."""
    files = [file for folder in PYTHON_FOLDERS for file in sorted(Path(folder).rglob("test_*.py"))]
    return [str(file) for file in files if not slow or "slow" in file.read_text()]


def group_python_files(files, seconds, slow):
    """Groups files so that each group takes about as long as the others. Starting pytest costs a second, so the
    files of fast tests share processes."""
    took = collections.Counter()
    for name, each in seconds.items():
        took[name.partition(": ")[0]] += each
    files = sorted(files, key=lambda file: took.get(Path(file).name, 1.0), reverse=True)
    if slow:
        return [[file] for file in files]
    groups = [(0.0, [])] * PYTHON_PROCESSES
    for file in files:
        (least, group), *others = sorted(groups)
        groups = [(least + took.get(Path(file).name, 1.0), [*group, file]), *others]
    return [group for _, group in sorted(groups, reverse=True)]


def run_pytest_and_tally(files, slow):
    """(what it said, TestTally)"""
    report = Path(f"build/pytest-{Path(files[0]).stem}.xml")
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
         "-m", "slow" if slow else "not slow", *files],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", env=environment_of_tests(),
    )  # fmt: skip
    if not report.exists():
        return done.stdout, TestTally(failed=1)
    missing = "".join(f"{line}\n" for line in done.stdout.splitlines() if line.startswith("not run,"))
    tally = TestTally()
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            tally.failed += 1
        elif "skipped" not in outcomes:
            tally.passed += 1
        name = f"{case.get('classname').rpartition('.')[2]}.py: {case.get('name')}"
        tally.seconds[name] = float(case.get("time"))
    no_tests = 5
    tally.failed = tally.failed or int(done.returncode not in (0, no_tests))
    return (done.stdout if tally.failed else missing), tally


def run_job_groups_on_workers(groups):
    """Runs groups of (jobs, number of workers). A job is a function that returns (output, TestTally).
    The jobs of a group start in order; a worker whose group has no jobs left takes those of other groups."""
    total, lock = TestTally(), threading.Lock()
    waiting = [collections.deque(jobs) for jobs, _ in groups]

    def run_own_then_waiting_jobs(own):
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
        threading.Thread(target=run_own_then_waiting_jobs, args=(own,))
        for own, (_, workers) in zip(waiting, groups)
        for _ in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total


def main(tier, *binaries):
    slow = tier == "slow"
    recorded = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    TIMES.parent.mkdir(exist_ok=True)
    COVERED.unlink(missing_ok=True)
    shutil.rmtree(GRADED, ignore_errors=True)
    GRADED.mkdir()
    sanitized = [word for word in ("address-undefined", "thread") if f"/{word}/" in binaries[0]]
    python, beside, alone = [], [], []
    for binary in binaries:
        for unit in sort_longest_first(list_test_units(binary, slow), recorded):
            if sanitized == ["thread"] and unit.file.endswith(CORPORA):
                continue
            (alone if unit.runs_alone() else beside).append(partial(run_test_unit_and_tally, binary, unit))
    if not sanitized:
        groups = group_python_files(python_test_files(slow), recorded, slow)
        python = [partial(run_pytest_and_tally, group, slow) for group in groups]
    # Tests spend much of their time waiting: for a time limit, a browser, a notebook's kernel. Two
    # processes of Python, and one process of C++ more than there are cores, keep all cores busy.
    total = run_job_groups_on_workers([(python, 2), (beside, 1 + (os.cpu_count() or 1))])
    total.add(run_job_groups_on_workers([(alone, 1)]))

    TIMES.write_text(json.dumps(recorded | total.seconds, indent=0))
    if total.passed + total.failed == 0:
        print("no test was executed: is there a grader/tests/*.cpp?", file=sys.stderr)
    slowest = sorted(total.seconds, key=total.seconds.get, reverse=True)[:2]
    for name in slowest:
        print(f"slowest: {total.seconds[name]:.1f} s, {name}")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
