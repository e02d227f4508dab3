# Fuzzes the history of a student's attempts, as the report page reads it.
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["lab32"]):
    from lab32.classroom.problem import UserError
    from lab32.report import history

from python_reader import fuzz


def fuzz_attempt_history(path):
    folder = Path(path).parent / ".lab32"
    folder.mkdir(exist_ok=True)
    Path(path).replace(folder / "history")
    try:
        attempts = history.read_graded_attempts(folder.parent)
    except UserError as problem:
        assert "\n" not in str(problem)
        return
    for attempt in attempts:
        assert attempt["score"] >= 0 and isinstance(attempt["lab"], str)
        for check in attempt["checks"].values():
            assert isinstance(check["measured"], str)
            assert all(abs(value) < 1e16 for value in check.get("figures", {}).values())


fuzz(fuzz_attempt_history)
