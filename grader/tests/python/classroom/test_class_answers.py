"""Answers to `lab32 ask` that students hand in, with the real grader: right ones, wrong ones, those of another student, and
those for another version of the file."""

import json
import re
import subprocess

import pytest
from class_tools import Classroom, put

from lab32 import ROOT, questions
from lab32.classroom import analysis
from lab32.classroom.problem import printable_line

BINARY = ROOT / "build/lab32"
SOLUTION = (ROOT / "solutions/swizzle/swizzle.cu").read_text()
CHECK = "Q questions about the code"
COURSE = "[labs.swizzle]\nchecks.understood.points = 10\n"


def answer(folder, student, wrong=False):
    """Asks about the file in the folder, and answers with the number that has the hash of the right answer, or with another."""
    words = ["--dir", str(folder), "--id", student]
    asked, _ = questions.fetch_questions_and_reason("swizzle", *words)
    assert len(asked) == 3
    right = [next(n for n in range(100_000) if questions.hashed_answer(q, n) == q.answer) for q in asked]
    given = [n % len(q.options) + 1 if q.options else n + 1 for n, q in zip(right, asked, strict=True)] if wrong else right
    questions.run_ask("swizzle", *words, *(word for n in given for word in ("--answer", str(n))))
    sheet = (folder / "swizzle/answers.toml").read_text()
    assert not any(re.search(rf"= ['\"]?{n}['\"]?$", sheet, re.MULTILINE) for n in given), "an answer in clear"
    return sheet


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """{student: (file, answers.toml)}"""
    folder, found = tmp_path_factory.mktemp("students"), {}
    for student, wrong in (("ann", False), ("bob", True)):
        put(folder / student, {"swizzle/swizzle.cu": SOLUTION})
        found[student] = (SOLUTION, answer(folder / student, student, wrong))
    found["cem"] = found["ann"]  # the file and the answers of another student
    found["dia"] = (SOLUTION + "// a change\n", found["ann"][1])
    found["eve"] = (SOLUTION, "")
    return found


def grade(folder, file, sheet, *options):
    put(folder, {"swizzle/swizzle.cu": file} | ({"swizzle/answers.toml": sheet} if sheet else {}))
    command = [BINARY, "grade", "swizzle", "--dir", folder, "--device", "sim", "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    (lab,) = json.loads(done.stdout)["labs"]
    found = [test for test in lab["tests"] if test["name"] == CHECK]
    return lab, found[0] if found else None


@pytest.mark.slow
def test_grade_judges_answers_by_the_points_of_the_course(handed_in, tmp_path):
    (tmp_path / "course.toml").write_text(COURSE)
    course = ["--course", tmp_path / "course.toml"]
    lab, test = grade(tmp_path / "ann", *handed_in["ann"], *course)
    assert (test["status"], test["score"], test["measured"]) == ("passed", test["max_score"], "3 of 3 right, id ann")
    assert lab["score"] == lab["max_score"] == 100 and 9 < test["max_score"] < 10, "10 of 110 points, scaled to 100"
    expected = {"bob": "0 of 3 right, id bob", "dia": "other version", "eve": "not answered"}
    for student, measured in expected.items():
        lab, test = grade(tmp_path / student, *handed_in[student], *course)
        assert (test["status"], test["score"], test["measured"], lab["status"]) == ("failed", 0, measured, "failed")
    _, test = grade(tmp_path / "cem", *handed_in["cem"], *course, "--id", "cem")
    assert (test["status"], test["score"], test["measured"]) == ("failed", 0, "other student")
    assert "the answers of `ann`, not of `cem`" in test["message"]


@pytest.mark.slow
def test_answers_without_points_change_neither_points_nor_status(handed_in, tmp_path):
    lab, test = grade(tmp_path / "bob", *handed_in["bob"])
    assert (lab["status"], lab["score"], lab["max_score"]) == ("passed", 100, 100)
    assert (test["status"], test["max_score"], test["measured"]) == ("passed", 0, "0 of 3 right, id bob")
    text = subprocess.run(
        [BINARY, "grade", "swizzle", "--dir", tmp_path / "bob", "--device", "sim"], capture_output=True, text=True, cwd=ROOT
    ).stdout
    assert "lost" not in text and "Not answered, or not right at first" in text
    assert grade(tmp_path / "eve", *handed_in["eve"])[1] is None


@pytest.mark.slow
def test_a_class_report_shows_how_many_have_understood(handed_in, tmp_path):
    classroom = Classroom(tmp_path)
    classroom.binary = BINARY
    for student, (file, sheet) in handed_in.items():
        put(classroom.submissions / student, {"swizzle.cu": file} | ({"answers.toml": sheet} if sheet else {}))
    (tmp_path / "course.toml").write_text(COURSE)
    assert classroom.run("--course", tmp_path / "course.toml", jobs=2, executor=None) == 0, classroom.err_text
    rows = classroom.rows()
    assert {name for name, row in rows.items() if row["score"] == "100"} == {"ann", "cem"}
    page = analysis.class_answers_summary_html(analysis.ClassResults(classroom.out)).text
    talks = re.findall(r"<tr><td>swizzle</td><td>(\w+)</td><td>(.*?)</td></tr>", page.partition("a reason to talk")[2])
    several = "3 of 3 right, id ann (several students have this id)"
    assert talks == [
        ("ann", several), ("bob", "0 of 3 right, id bob"), ("cem", several), ("dia", "other version"), ("eve", "not answered"),
    ]  # fmt: skip
    assert printable_line(page) and "67 %" in page
