import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the package lab32, also where no .venv points to it
os.environ["MPLBACKEND"] = "agg"
# A job in a shell's background ignores interrupts, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

import slurm_cluster  # noqa: E402

not_run = []


def pytest_ignore_collect(collection_path):
    """What needs Slurm, where there is none: told at the end, and neither passed nor skipped."""
    if collection_path.name == "test_class_real_slurm.py" and not slurm_cluster.installed():
        not_run.append(
            f"not run, for want of Slurm: {collection_path.name}; `grader/setup/setup slurm` installs it"
        )
        return True
    return None


def pytest_terminal_summary(terminalreporter):
    for line in not_run:
        terminalreporter.write_line(line)
