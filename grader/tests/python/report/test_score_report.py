
import pytest

from lab32 import ROOT, results, score_report

SAMPLE = ROOT / "grader/tests/python/data/result.json"


@pytest.fixture
def result():
    return results.load_result(SAMPLE)


def test_a_check_that_was_not_run_has_no_points(result):
    """`0 of 5` would suggest that points were lost."""
    rows = {name: shown for _, name, shown, *_ in score_report.check_result_rows(result.lab("coalescing"))}
    assert rows["C1 one element off the line"] == "not run, of 4"
    assert rows["B1 scale: sectors"] == "1 of 8"


def test_the_first_lost_point_is_open_and_text_is_escaped(result):
    lab = result.lab("coalescing")
    lab.tests[0].message = "a < b"
    html = result._repr_html_()
    assert html.count("<details open>") == 1
    assert "a &lt; b" in html and "a < b" not in html
    # A sign accompanies each check, so that no colour is needed.
    assert html.count("✓") == sum(t.status == "passed" for t in lab.tests)
    assert html.count("✗") == sum(t.status == "failed" for t in lab.tests)


def test_a_compile_error_is_shown(result):
    lab = result.lab("coalescing")
    lab.tests, lab.status, lab.message = [], "error", "line 3: <oops>"
    assert "&lt;oops&gt;" in result._repr_html_() and "<oops>" in score_report.score_report_text(result)


def test_a_compile_error_is_shown_once(result):
    lab = result.lab("coalescing")
    lab.status, lab.message = "error", "x.cu does not compile:\nline 3: no `slot`"
    for test in lab.tests:
        test.status, test.message = "error", "x.cu does not compile:"
    for shown in (result._repr_html_(), score_report.score_report_text(result)):
        assert shown.count("does not compile") == 1 and "no `slot`" in shown
