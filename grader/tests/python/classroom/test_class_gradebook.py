"""The gradebook that a platform exported gets the scores of its students, and no other byte changes. Sources
for the format:

Canvas  https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_exporter.rb (csv_data): a row
        with posting policies, a row `    Points Possible`, EX for an excused student, N/A for an unassigned
        one; each assignment's title with its number
Moodle  the worksheet of an assignment: https://github.com/moodle/moodle/tree/main/mod/assign/feedback/offline
        (`Identifier` is `Participant 123`); the grade export: .../grade/import/csv/tests (`Assignment: ...`)
"""

import pytest

from lab32.classroom import collect
from lab32.classroom.gradebook import Gradebook, parse_column_options
from lab32.classroom.problem import UserError
from lab32.classroom.scores import StudentRow
from lab32.classroom.table import EditableCsvFile

LABS = ["bank_conflicts", "shuffle"]
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab 1: Shuffle (501),Bank conflicts (502),"
    "Labs Current Score,Shuffle Final Score,Notes\r\n"
    ",,,,,Manual Posting,,,,\r\n"
    '"    Points Possible",,,,,100.00,50.00,(read only),(read only),\r\n'
    '"Doe, Jane",11,u11,jane,"Section 1, late",,,,,"says ""hi"""\r\n'
    '"Müller, Jörg",12,u12,joerg,S2,3,4,5,6,\r\n'
    '"Student, Test",13,,,S2,,,,,\r\n'
)
WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (grade)","Feedback comments"\n'
    '"Participant 11","Jane Doe",jane@x.edu,"Submitted for grading",,100.00,Yes,-,\n'
    '"Participant 12","Jörg Müller",joerg@x.edu,"No submission",,100.00,No,-,\n'
)
MOODLE = (
    '"First name","Last name","ID number",Institution,Department,"Email address","Assignment: Shuffle (Real)",'
    '"Feedback: Shuffle","Assignment: Shuffle (Percentage)","Course total (Real)"\n'
    "Jane,Doe,s11,,,jane@x.edu,-,,-,-\n"
)


def row(name, ids, **points):
    student = collect.Student(name, name, tuple(ids.items()), dict.fromkeys(points))
    return StudentRow(
        student, name, status="graded", max_score=100 * len(points), raw=dict(points),
        final=dict(points), most=dict.fromkeys(points, 100),
    )  # fmt: skip


def with_grades(text, rows, labs=LABS, columns=()):
    book = Gradebook(EditableCsvFile(text.encode(), "book.csv"), labs, parse_column_options(columns, labs))
    data, messages = book.with_grades(rows)
    return data.decode(), messages


def changed(before, after):
    """[(old, new)] of the cells that differ; all other cells must be equal."""
    old, new = EditableCsvFile(before.encode(), ""), EditableCsvFile(after.encode(), "")
    out, back = [], {}
    for number, (was, now) in enumerate(zip(old.rows, new.rows, strict=True)):
        for column, (a, b) in enumerate(zip(was.cells, now.cells, strict=True)):
            if a.text != b.text:
                out.append((a.text, b.text))
                back[number, column] = old.text[a.start : a.end]
    assert new.bytes_with_changes(back) == before.encode()
    return out


def test_canvas():
    rows = [
        row("doejane", {"canvas": "11"}, shuffle=87.5, bank_conflicts=100),
        row("müllerjörg", {"canvas": "12"}, shuffle=0),
    ]
    after, messages = with_grades(CANVAS, rows)
    assert changed(CANVAS, after) == [("", "87.5"), ("", "50"), ("3", "0")]
    assert messages == ["`Bank conflicts (502)`: of 100 points to 50"]


def test_canvas_with_first_and_last_names():
    text = "LastName,FirstName,ID,SIS Login ID,Section,Shuffle (5)\nDoe,Jane,11,j,S,\n"
    assert changed(text, with_grades(text, [row("x", {"canvas": "11"}, shuffle=5)])[0]) == [("", "5")]


def test_a_canvas_id_matches_no_other_number():
    text = "Student,ID,SIS User ID,Section,Shuffle\nDoe,11,,S,\nLee,12,11,S,\n"
    after, _ = with_grades(text, [row("x", {"sid": "11"}, shuffle=5)])
    assert after == text.replace("Lee,12,11,S,", "Lee,12,11,S,5")


@pytest.mark.parametrize("cell", ["EX", "N/A"])
def test_an_excused_student_stays_excused(cell):
    text = f"Student,ID,SIS Login ID,Section,Shuffle (5)\nDoe,11,j,S,{cell}\n"
    after, messages = with_grades(text, [row("doe", {"canvas": "11"}, shuffle=5)])
    assert after == text
    assert messages == [f"doe: `Shuffle (5)` is {cell} and stays so"]


def test_moodles_worksheet_of_one_assignment():
    rows = [row("a", {"moodle": "11"}, shuffle=70.25), row("b", {"moodle": "12"}, shuffle=60)]
    after, messages = with_grades(WORKSHEET, rows, ["shuffle"])
    assert changed(WORKSHEET, after) == [("", "70.25")]
    assert messages == ["b: book.csv marks this grade as locked"]


def test_the_worksheet_takes_the_total_of_several_labs():
    rows = [row("a", {"moodle": "11"}, shuffle=70, bank_conflicts=71)]
    after, messages = with_grades(WORKSHEET, rows)
    assert changed(WORKSHEET, after) == [("", "70.5")]
    assert messages == ["`Grade`: of 200 points to 100"]


def test_a_maximum_that_is_not_a_number_scales_nothing():
    for maximum in ("1e999999999", "1/0", "-5", "nan", "", "0"):
        text = WORKSHEET.replace("100.00,Yes", maximum + ",Yes")
        data, messages = with_grades(text, [row("Jane", {"moodle": "11"}, shuffle=40)], ["shuffle"])
        assert [now for _, now in changed(text, data)] == ["40"] and messages == []


def test_moodles_gradebook_by_email_or_id_number():
    for ids in ({"email": "JANE@x.edu"}, {"sid": "s11"}, {"plain": "s11"}):
        after, messages = with_grades(MOODLE, [row("a", ids, shuffle=7)])
        assert (changed(MOODLE, after), messages) == ([("-", "7")], [])


@pytest.mark.parametrize(
    "text", [CANVAS, WORKSHEET, MOODLE, CANVAS.replace("\r\n", "\n"), MOODLE.rstrip("\n")]
)
def test_without_graded_students_not_a_byte_changes(text):
    assert with_grades(text, []) == (text, [])


def test_missing_and_duplicate_students_are_reported():
    text = "Student,ID,Email,Shuffle\na,1,x@x.edu,\nb,2,,\nc,1,,\n"
    rows = [
        row("gone", {"canvas": "9"}, shuffle=1),
        row("twice", {"canvas": "1"}, shuffle=2),
        row("b", {"canvas": "2"}, shuffle=3),
        row("also b", {"canvas": "2"}, shuffle=4),
        row("nameless", {}, shuffle=5),
    ]
    after, messages = with_grades(text, rows)
    assert changed(text, after) == [("", "3")]
    assert messages == [
        "gone: not in book.csv",
        "twice: more than once in book.csv",
        "also b: line 3 of book.csv is b's already",
        "nameless: not in book.csv",
    ]


def test_a_name_alone_matches_no_student():
    text = "Student,ID,Shuffle\nJane Doe,1,\n"
    assert with_grades(text, [row("Jane Doe", {"plain": "Jane Doe"}, shuffle=1)])[0] == text


def test_students_without_a_grade_keep_their_cells():
    absent = row("a", {"canvas": "11"}, shuffle=0)
    absent.status = "not handed in"
    later = StudentRow(collect.Student("b", "b", (("canvas", "12"),)), "b", status="not graded")
    assert with_grades(CANVAS, [absent, later]) == (CANVAS, [])


def test_the_files_encoding_is_kept():
    data = "Student;ID;Shuffle\r\nMüller;1;\r\n".encode("utf-16")
    after, _ = Gradebook(EditableCsvFile(data, "b"), ["shuffle"]).with_grades(
        [row("x", {"canvas": "1"}, shuffle=5)]
    )
    assert after == "Student;ID;Shuffle\r\nMüller;1;5\r\n".encode("utf-16")


def test_the_column_can_be_named():
    text = "Student,ID,Final,Shuffle a,Shuffle b\nx,1,,,\n"
    with pytest.raises(UserError, match="`Shuffle a`, `Shuffle b` may all belong to shuffle; choose one with"):
        with_grades(text, [])
    rows = [row("x", {"canvas": "1"}, shuffle=5)]
    after, _ = with_grades(text, rows, columns=["shuffle=Shuffle b", "total=Final"])
    assert after == text.replace("x,1,,,", "x,1,5,,5")


@pytest.mark.parametrize(
    "text, columns, words",
    [
        ("Student,ID,Quiz\n", [], "no column is named after one of bank_conflicts, shuffle; name one with"),
        ("Student,ID,Shuffle\n", ["shuffle=Quiz"], "book.csv: no column `Quiz`; its columns are `Student`"),
        ("Student,ID,Shuffle\n", ["quiz=Shuffle"], "--column quiz=Shuffle: write LAB=HEADER, with LAB one of"),
        ("Student,ID,A\n", ["shuffle=A", "total=A"], "--column: `A` is named twice"),
        ("Student,ID,Shuffle\n", ["shuffle"], "--column shuffle: write LAB=HEADER"),
        ("Student,Shuffle\n", [], "book.csv:1: no column with students' ids"),
        ("Student,ID,Shuffle Current Score\n", [], "no column is named after one of"),
        ("", [], "book.csv: the file is empty"),
    ],
)  # fmt: skip
def test_a_gradebook_without_a_matching_column_is_reported(text, columns, words):
    with pytest.raises(UserError) as caught:
        with_grades(text, [], columns=columns)
    assert words in str(caught.value)
