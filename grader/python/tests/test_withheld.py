"""What a later question asks is not in the message of a check that has passed before it."""

import re

import pytest
from graded import graded, graded_text

from lab32 import ROOT

# Lab, answer, a check with a table, what stands in the table while that answer is wrong, and a row
# of it that the solution's has.
CASES = [
    ("coalescing", "add2_sectors", "A3", "add2 how many sectors, C1 asks", r"add2( +[\d,.]+){6}"),
    ("bank_conflicts", "int4_wavefronts", "A5", "int4 how many wavefronts, C1 asks", r"int4( +\d+){2,}"),
    ("shuffle", "float_adds", "B4", "reduce_atomic 1 2,097,152 see A2 0 0", r"reduce_atomic +1 +2,097,152 +16,777,216"),
]  # fmt: skip


def message(result, check):
    (test,) = (test for test in result.labs[0].tests if test.name.startswith(check + " "))
    assert test.status == "passed"
    return test.message


@pytest.mark.parametrize(("lab", "answer", "check", "withheld", "row"), CASES)
def test_a_table_waits_for_the_question_that_asks_for_it(lab, answer, check, withheld, row):
    solution = (ROOT / "solutions" / lab / f"{lab}.cu").read_text()
    wrong, changes = re.subn(rf"(LAB32_ANSWER\({answer}, )[^)]+", r"\g<1>77", solution)
    assert changes == 1
    told = message(graded_text(lab, wrong), check)
    assert withheld in [" ".join(line.split()) for line in told.splitlines()]
    assert not re.search(row, told)
    assert re.search(row, message(graded(lab, "solutions"), check))
