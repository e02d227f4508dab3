"""The answer to an open question is not shown: neither in the message of a check that passed before it, nor in a
notebook's figure."""

import re

import pytest
from graded import MORE, graded, graded_text, of_state
from slow_parameters import slow_unless

from lab32 import ROOT
from lab32.labs.swizzle import notebook as swizzle
from lab32.labs.transpose import notebook as transpose

# (lab, answer, a check with a table, the table's text while that answer is wrong, a row of the solution's
# table)
CASES = [
    ("coalescing", "add2_sectors", "A3", "add2 how many sectors, C1 asks", r"add2( +[\d,.]+){6}"),
    ("coalescing", "length_aos_sectors", "A3", "copy_strided(3) how many sectors, C2 asks", r"copy_strided\(3\)( +[\d,.]+){6}"),
    ("bank_conflicts", "int4_wavefronts", "A5", "int4 how many wavefronts, C1 asks", r"int4( +\d+){2,}"),
    ("shuffle", "float_adds", "B4", "reduce_atomic 1 2,097,152 see A2 0 0", r"reduce_atomic +1 +2,097,152 +16,777,216"),
]  # fmt: skip
WITHOUT_PICTURES = tuple(word for word in MORE if word != "--pictures")


def message(result, check):
    (test,) = (test for test in result.labs[0].tests if test.name.startswith(check + " "))
    assert test.status == "passed"
    return test.message


@pytest.mark.parametrize(
    ("lab", "answer", "check", "withheld", "row"),
    slow_unless(CASES, CASES[0].__eq__, lambda case: case[1]),
)
def test_a_table_is_withheld_until_its_question_is_answered(lab, answer, check, withheld, row):
    solution = (ROOT / "solutions" / lab / f"{lab}.cu").read_text()
    wrong, changes = re.subn(rf"(LAB32_ANSWER\({answer}, )[^)]+", r"\g<1>77", solution)
    assert changes == 1
    told = message(graded_text(lab, wrong, WITHOUT_PICTURES), check)
    assert withheld in [" ".join(line.split()) for line in told.splitlines()]
    assert not re.search(row, told)
    assert re.search(row, message(graded(lab, "solutions"), check))


# (lab, question, how many checks of the skeleton withhold a count because of it, the count). These checks once
# gave a 32nd part of the points and similar, from which the count follows.
QUARTERED = [
    ("shuffle", "A2 who adds", 3, "adds"),
    ("swizzle", "C1 plain: wavefronts", 2, "wavefronts"),
]


@pytest.mark.parametrize(("lab", "question", "checks", "count"), QUARTERED)
def test_a_withheld_count_has_no_partial_points(lab, question, checks, count):
    of_lab = graded(lab, "labs").labs[0]
    kept = [test for test in of_lab.tests if test.measured == f"too many: see {question[:2]}"]
    assert len(kept) == checks
    for test in kept:
        assert (4 * test.score / test.max_score).is_integer()
        assert f"Until `{question}` is answered" in " ".join(test.message.split())
        assert count not in test.figures
    for test in of_lab.tests:
        assert not re.search(r"[\d.]+ [kM]? ?wavefronts", test.message)


# (lab, the check that asks, what the notebook draws). One count of wavefronts of a given kernel reveals the
# answer, because the instructions can be counted in the source.
DRAWN = [
    ("swizzle", "C1 plain: wavefronts", swizzle.student_wavefronts_per_tile),
    ("transpose", "A2 a column of a tile", lambda lab: transpose.ratios_to_ideal_by_label(lab, "wavefronts")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("lab", "check", "drawn"), DRAWN)
def test_a_notebooks_wavefronts_are_withheld_until_the_question_is_answered(lab, check, drawn):
    of_lab = of_state(lab, "solved").lab(lab)
    assert drawn(of_lab)
    next(test for test in of_lab.tests if test.name == check).status = "failed"
    assert not drawn(of_lab)
