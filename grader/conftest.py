import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The packages lab32, handouts and mutants, also where no .venv points to them; and the tests' own helpers.
for folder in (HERE / "python", HERE / "tools", HERE / "tests/python", *(HERE / "tests/python").glob("*/")):
    sys.path.insert(0, str(folder))
os.environ["MPLBACKEND"] = "agg"
# A job in a shell's background ignores interrupts, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

import browser  # noqa: E402
import slurm_cluster  # noqa: E402

not_run = []  # lines for the end


# File -> what it needs, and whether that is here.
NEEDS = {
    "test_class_real_slurm.py": ("Slurm", "slurm", slurm_cluster.installed),
    "test_report_browser.py": ("Chromium", "chromium", lambda: browser.CHROMIUM is not None),
    "test_report_heard.py": ("Chromium", "chromium", lambda: browser.CHROMIUM is not None),
}


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left to `make test-slow`")


def pytest_collection_modifyitems(items):
    """What needs a program that is not available: told at the end, and neither passed nor skipped."""
    missing = set()
    for file in {item.path.name for item in items} & NEEDS.keys():
        name, part, is_installed = NEEDS[file]
        if not is_installed():
            missing.add(file)
            not_run.append(f"not run, for want of {name}: {file}; `grader/setup/setup {part}` installs it")
    items[:] = [item for item in items if item.path.name not in missing]


def pytest_terminal_summary(terminalreporter):
    for line in not_run:
        terminalreporter.write_line(line)
