# Fuzzes results of a grading, as notebooks, classes and the report page read them.
import atheris

with atheris.instrument_imports(include=["lab32"]):
    from lab32 import results, score_report

from python_reader import fuzz


def read(path):
    try:
        result = results.load(path)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    score_report.text(result)
    score_report.html(result)
    for lab in result.labs:
        lab.figures()


fuzz(read)
