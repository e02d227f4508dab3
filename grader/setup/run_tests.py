"""Runs the C++ tests and, beside them, the Python tests; closes with one line: N passed, N failed.

usage: run_tests.py [DOCTEST_BINARY] [PYTEST_DIRECTORY]   (those that exist; shown in this order)
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUMMARY = re.compile(r"\[doctest\] test cases: *\d+ \| *(\d+) passed \| *(\d+) failed")


def run_doctest(binary):
    """(passed, failed, nothing more to show)"""
    passed = failed = 0
    with subprocess.Popen([binary], stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if match := SUMMARY.search(line):
                passed, failed = map(int, match.groups())
    # A crash ends without a summary, or with one that does not know of it.
    return passed, failed or int(process.returncode != 0), ""


def run_pytest(directory):
    """(passed, failed, its output)"""
    report = Path("build/pytest.xml")
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run(
        [*command, directory], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace",
    )  # fmt: skip
    if not report.exists():
        return 0, 1, done.stdout
    count = {key: 0 for key in ("tests", "failures", "errors", "skipped")}
    for suite in xml.etree.ElementTree.parse(report).iter("testsuite"):
        for key in count:
            count[key] += int(suite.get(key))
    failed = count["failures"] + count["errors"]
    passed = count["tests"] - failed - count["skipped"]
    return passed, failed or int(done.returncode != 0), done.stdout


def main(suites):
    # Side by side: the C++ tests wait for one nvcc after the other, and a core is free.
    passed = failed = 0
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(run_pytest if os.path.isdir(s) else run_doctest, s) for s in suites]
        for run in runs:
            right, wrong, output = run.result()
            print(output, end="", flush=True)
            passed, failed = passed + right, failed + wrong
    if passed + failed == 0:
        print("no test was executed: is there a grader/tests/*.cpp?", file=sys.stderr)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
