# Fuzzes results of a grading, as notebooks, classes and the report page read them.
import atheris

with atheris.instrument_imports(include=["lab32"]):
    from lab32 import results, score_report

from python_reader import fuzz


def read_result(path):
    try:
        result = results.load_result(path)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    score_report.result_text(result)
    score_report.result_html(result)
    for lab in result.labs:
        lab.figures_of_checks()


fuzz(read_result)
