"""Pictures in notebooks: the picture of `lab32 explain` is shown, or else the reason that it gave."""

import pytest
from IPython.lib.pretty import pretty

from lab32 import explained, results

SVG = "<svg xmlns='http://www.w3.org/2000/svg'><title>32 lanes, 16 sectors</title></svg>"


@pytest.fixture
def draws(tmp_path, monkeypatch):
    """A `lab32` that draws the check named `drawn` and refuses all others."""
    program = tmp_path / "lab32"
    program.write_text(
        '#!/bin/sh\necho "$@" >>"$(dirname "$0")/asked"\n'
        f'case "$*" in *drawn*) echo "{SVG}" >"$5";; *) echo running >&2; echo "lab32: no picture: answer A1 first" >&2; exit 2;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(explained, "BINARY", program)
    return lambda: (tmp_path / "asked").read_text().splitlines()


def lab(*checks):
    """(name, points lost, kind of failure) of each check."""
    tests = [
        results.CheckResult(name, "failed", 10 - lost, 10, message=f"message of {name}", failure={"kind": kind})
        for name, lost, kind in checks
    ]
    return results.LabResult("coalescing", "failed", 0, 100, tests, seed=7)


def test_the_check_that_lost_the_most_points_is_drawn_with_its_message(draws):
    shown = explained.picture_of_check_costing_most(lab(("little", 1, "wasteful"), ("drawn", 9, "wasteful"), ("wrong", 10, "wrong_result")))
    assert SVG in shown._repr_html_() and "message of drawn" in shown._repr_html_()
    assert pretty(shown) == "drawn\nmessage of drawn\n32 lanes, 16 sectors"
    # Lines are not broken inside words, although Jupyter breaks code.
    assert "word-break: normal" in shown._repr_html_()
    (asked,) = draws()
    assert " coalescing drawn --dir " in asked and asked.endswith(" --seed 7")


def test_after_a_withheld_picture_the_next_check_is_drawn(draws):
    shown = explained.picture_of_check_costing_most(lab(("withheld", 9, "wasteful"), ("drawn", 5, "wasteful")))
    assert isinstance(shown, explained.ExplainedPicture) and len(draws()) == 2


def test_without_any_picture_one_line_explains_why(draws):
    shown = explained.picture_of_check_costing_most(lab(("withheld", 9, "wasteful")))
    assert pretty(shown) == "No picture: answer A1 first."
    assert shown._repr_html_() == "<p>No picture: answer A1 first.</p>"
    assert pretty(explained.picture_of_check_costing_most(lab(("wrong", 9, "wrong_result")))) == (
        "No picture: no check of this result lost points by its accesses."
    )


def test_names_of_checks_are_marked_as_code():
    html = explained.MissingPicture("what it shows is what `C1 <plain>: wavefronts` asks: answer that first")._repr_html_()
    assert html == (
        "<p>No picture: what it shows is what <code>C1 &lt;plain&gt;: wavefronts</code> asks: answer that first.</p>"
    )
