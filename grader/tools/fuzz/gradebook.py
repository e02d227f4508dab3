# Fuzzes gradebooks as platforms export them; filling one in may only change cells of the labs' columns.
from types import SimpleNamespace

import atheris

with atheris.instrument_imports(include=["lab32.classroom"]):
    from lab32.classroom.gradebook import read_gradebook
    from lab32.classroom.problem import UserError
    from lab32.classroom.scores import StudentRow
    from lab32.classroom.table import EditableCsvFile

from python_reader import fuzz

LABS = ["reduction", "transpose"]


def sample_row(number):
    student = SimpleNamespace(ids=(("plain", number),), name="Ada", key=f"id:{number}")
    points = {"reduction": 87.65, "transpose": 100}
    return StudentRow(
        student, number, raw=points, final=points, most=dict.fromkeys(LABS, 100), max_score=200
    )


def fuzz_gradebook(path):
    try:
        book = read_gradebook(path, LABS)
    except UserError as problem:
        assert "\n" not in str(problem)
        return
    data, messages = book.with_grades([sample_row("1"), sample_row("2")])
    assert all("\n" not in line for line in messages)
    after = EditableCsvFile(data, "after")
    changed = set(book.columns.values())
    for old, new in zip(
        [book.table.header, *book.table.rows], [after.header, *after.rows], strict=True
    ):
        for column, (a, b) in enumerate(zip(old.cells, new.cells, strict=True)):
            assert a.text == b.text or column in changed


fuzz(fuzz_gradebook)
