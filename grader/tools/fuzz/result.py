# Fuzzes results of a grading, as notebooks, classes and the report page read them.
import atheris

with atheris.instrument_imports(include=["lab32"]):
    from lab32 import results, score_report

from python_reader import fuzz


def fuzz_grading_result(path):
    try:
        result = results.load_result(path)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    score_report.score_report_text(result)
    score_report.score_report_html(result)
    for lab in result.labs:
        lab.figures_by_name()


fuzz(fuzz_grading_result)
