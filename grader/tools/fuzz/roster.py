# Fuzzes rosters of a class.
import atheris

with atheris.instrument_imports(include=["lab32.classroom"]):
    from lab32.classroom.people import read_roster
    from lab32.classroom.problem import UserError

from python_reader import fuzz


def fuzz_student_roster(path):
    try:
        people = read_roster(path)
    except UserError as problem:
        assert "\n" not in str(problem)
        return
    assert people and all(person.ids for person in people)


fuzz(fuzz_student_roster)
