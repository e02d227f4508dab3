"""A course in one file: course.toml, for `lab32 course check`, `class` and `grade`."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from class_tools import PAGES, Classroom, put

from authoring import new_lab
from lab32 import ROOT
from lab32.classroom import analysis
from lab32.classroom.overrides import PointsOverride, points_after_override, read_points_overrides
from lab32.classroom.problem import UserError
from lab32.course.__main__ import main
from lab32.course.reader import read_course
from lab32.course.rubrics import adapted_rubric, adapted_toml_and_change_places

BINARY = ROOT / "build/lab32"
COURSE = """language = "en"
attempt = "best"
due = 2026-12-14T23:59:00+01:00
max_score = 100
overrides = "overrides.csv"

[late]
grace_minutes = 15
per_cent_per_day = 10
cap_per_cent = 50
slip_days = 2
marked_late_days = 1
use_file_times = false

[labs.twins]
release = 2026-11-09T08:00:00+01:00
due = 2026-11-23T23:59:00+01:00

[labs.stripes]
release = 2026-11-23T08:00:00+01:00
weight = 2
max_score = 50
[labs.stripes.checks]
sectors.points = 0
scale.visible = "after_due"
scale_sectors = { points = 60, ideal = "n / 3" }

[extensions.jdoe]
days = 2
stripes = 2999-12-20T23:59:00+01:00

[excused]
u1234 = ["twins"]
"""
OVERRIDES = "id,lab,check,points,reason\njdoe,twins,,80,oral exam\nu1234,stripes,scale,5,copied\n"
TABLE = """\
lab      release                 due                     weight  points  checks               hours
twins    2026-11-09 08:00+01:00  2026-11-23 23:59+01:00       1     100  3                        2
stripes  2026-11-23 08:00+01:00  2026-12-14 23:59+01:00       2      50  2 of 3, 1 after due      2
all                                                                 200                           4

late: 10 % a day begun, 15 minutes of grace, at most 50 %; 2 slip days a student
attempt that counts: best
extensions: jdoe
excused: u1234
overrides: 2 rows of overrides.csv
"""


@pytest.fixture(autouse=True)
def own_labs(tmp_path_factory, monkeypatch):
    """The labs `stripes` and `twins`, as `lab32 new-lab` writes them. The course does not depend on lab32's own labs."""
    folder = tmp_path_factory.mktemp("own")
    for lab in ("stripes", "twins"):
        new_lab.write_lab_from_template(lab, folder)
    monkeypatch.setenv("LAB32_LABS", str(folder))
    return folder


def course_file(folder, text=COURSE, overrides=OVERRIDES):
    put(folder, {"course.toml": text, "overrides.csv": overrides})
    return folder / "course.toml"


def test_a_course_is_printed_as_a_table(tmp_path, capsys):
    assert main(["check", str(course_file(tmp_path))]) == 0
    assert capsys.readouterr().out == TABLE


@pytest.mark.parametrize(
    "old, new, line, words",
    [
        ('language = "en"', 'language = "zh"', 1, 'language must be "en"'),
        ('attempt = "best"', 'attempt = "first"', 2, 'attempt must be "last" or "best_before_due" or "best"'),
        ("2026-12-14T23:59:00+01:00", "2026-12-14T23:59:00", 3, "due must be a time with its zone, such as 2026-"),
        ("max_score = 100", "max_score = 0", 4, "max_score must be a number of at least 1"),
        ('overrides = "overrides.csv"', "overrides = 3", 5, "overrides must be the name of a CSV file"),
        ("max_score = 100", "max_scor = 100", 4, "there is no key `max_scor` here; the keys are attempt, due, exc"),
        ("grace_minutes = 15", "grace_minutes = -1", 8, "grace_minutes must be a number of at least 0"),
        ("per_cent_per_day = 10", 'per_cent_per_day = "10"', 9, "per_cent_per_day must be a number"),
        ("cap_per_cent = 50", "cap_per_cent = 101", 10, "cap_per_cent must be a number of at least 0 and at most 100"),
        ("slip_days = 2", "slip_days = nan", 11, "slip_days must be a number of at least 0"),
        ("marked_late_days = 1", "marked_late_days = true", 12, "marked_late_days must be a number"),
        ("use_file_times = false", "use_file_times = 0", 13, "use_file_times must be true or false"),
        ("slip_days = 2", "slip_day = 2", 11, "there is no key `slip_day` here; the keys are cap_per_cent, "),
        ("[labs.twins]", "[labs.twin]", 15, "there is no lab `twin`; the labs are: bank_conflicts, "),
        ("release = 2026-11-09", "release = 2026-11-29", 16, "release must be before due"),
        ("2026-11-23T23:59:00+01:00", "tomorrow", 17, "Invalid"),
        ("weight = 2", "weight = -2", 21, "weight must be a number of at least 0"),
        ("max_score = 50", 'max_score = "50"', 22, "max_score must be a number of at least 1"),
        ("weight = 2", "wight = 2", 21, "there is no key `wight` here; the keys are checks, due, max_score, "),
        ("sectors.points", "sector.points", 24, "stripes.toml has no check [sector]; its checks are sectors, "),
        ("sectors.points = 0", "sectors.points = -1", 24, "points must be a number of at least 0"),
        ('visible = "after_due"', 'visible = "never"', 25, 'visible must be "always" or "after_due"'),
        ("scale.visible", "scale.visibly", 25, "[scale] has no threshold `visibly`; it has points, visible"),
        ('ideal = "n / 3"', "ideal = 40", 26, "ideal must be a text, as in stripes.toml: n / 4"),
        ('ideal = "n / 3"', 'ideal = "m / 3"', 26, "there is no name `m`"),
        ('ideal = "n / 3"', 'counter = "sektors"', 26, "there is no name `sektors`; did you mean"),
        ('ideal = "n / 3"', "credit = 1", 26, "[scale_sectors] has no threshold `credit`; it has points, visible"),
        ("days = 2\ns", 'days = "two"\ns', 29, "days must be a number of at least 0"),
        ("stripes = 2999", "stripess = 2999", 30, "there is no key `stripess` here; the keys are days, stripes, twins"),
        ("2999-12-20T23:59:00+01:00", "2999-12-20", 30, "stripes must be a time with its zone"),
        ("days = 2\nstripes = 2999-12-20T23:59:00+01:00\n", "", 28, "[extensions.jdoe] has neither `days` nor a lab"),
        ('["twins"]', '["twin"]', 33, 'u1234 must be a list of labs of the course: ["twins", "stripes"]'),
        ('["twins"]', "true", 33, "u1234 must be a list of labs of the course"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named_with_file_and_line(tmp_path, capsys, old, new, line, words):
    assert COURSE.count(old) >= 1
    path = course_file(tmp_path, COURSE.replace(old, new, 1))
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"lab32: {path}:{line}: ") and words in said and said.count("\n") == 1


@pytest.mark.parametrize(
    "row, words",
    [
        (",twins,,80,why", "each row has an id, and a reason that the student reads"),
        ("ada,twins,,80,", "each row has an id, and a reason that the student reads"),
        ("ada,reduction,,80,why", "the course has no lab `reduction`; its labs are twins, stripes"),
        ("ada,stripes,scales,8,why", "stripes has no check `scales`; its checks are sectors, scale, scale_sectors"),
        ("ada,stripes,scale,-8,why", "`-8` is no number of points"),
        ("ada,stripes,scale,all,why", "`all` is no number of points"),
    ],
)
def test_a_wrong_override_is_named_with_file_and_line(tmp_path, capsys, row, words):
    path = course_file(tmp_path, overrides=OVERRIDES + row + "\n")
    assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err == f"lab32: {tmp_path}/overrides.csv:4: {words}\n"


def test_overrides_name_checks_by_table_or_by_name(tmp_path):
    text = OVERRIDES + "ada,stripes,B1 scale: result,1,late\n"
    found = read_points_overrides(read_course(course_file(tmp_path, overrides=text)))
    assert found["u1234"][0].check == found["ada"][0].check == "B1 scale: result"
    assert found["ada"][0].describe_override() == "stripes, B1 scale: result: 1 point, set by the instructor: late"


def test_an_override_of_a_check_changes_the_labs_points_by_the_difference():
    assert points_after_override(PointsOverride("x", "", 80, ""), 20, {}) == 80
    assert points_after_override(PointsOverride("x", "B1", 5, ""), 30.5, {"B1": 10}) == 25.5
    assert points_after_override(PointsOverride("x", "B1", 0, ""), 5, {"B1": 10}) == 0


NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "changes, points",
    [
        ("", {"sectors": 0, "scale": 16.67, "scale_sectors": 33.33}),  # 30 and 60, of 50 points
        ("sectors.points = 30\n", {"sectors": 12.5, "scale": 12.5, "scale_sectors": 25}),
        ("sectors.points = 60\nscale.points = 60\n", {"sectors": 16.67, "scale": 16.67, "scale_sectors": 16.66}),
    ],
)
def test_points_are_scaled_to_max_score_in_hundredths(tmp_path, changes, points):
    course = read_course(course_file(tmp_path, COURSE.replace("sectors.points = 0\n", changes or "sectors.points = 0\n")))
    lab = course.labs["stripes"]
    rubric = adapted_rubric(course, lab)
    assert {table: rubric[table]["points"] for table in lab.rubric_rows_by_name()} == points
    assert (round(sum(points.values()), 2), rubric["max_score"]) == (50, 50)


def test_a_check_is_hidden_until_the_last_extension_ends(tmp_path):
    course = read_course(course_file(tmp_path))
    lab = course.labs["stripes"]
    until = adapted_rubric(course, lab)["scale"]["hidden_until"]
    assert until.year == 2999


def test_a_rubric_that_the_course_leaves_alone_stays_the_same_file(tmp_path, own_labs):
    course = read_course(course_file(tmp_path))
    assert adapted_toml_and_change_places(course, course.labs["twins"]) == ((own_labs / "data/limits/twins.toml").read_text(), {})


@pytest.mark.parametrize(
    "text, words",
    [
        ("[labs]\n", "1: [labs] names no lab"),
        ("labs = 3\n", "1: labs must be a table"),
        ("[labs]\nshuffle = 3\n", "2: [labs.shuffle] is a table"),
        ("[labs.shuffle.checks]\nadd_result = 3\n", "2: "),
        ("[excused]\nu1 = []\n[labs.shuffle]\n", '2: u1 must be a list of labs of the course: ["shuffle"]'),
        ("[labs.shuffle.checks.nothing]\n", "1: shuffle.toml has no check [nothing]; its checks are"),
    ],
)
def test_a_wrong_table_is_named_with_file_and_line(tmp_path, text, words):
    with pytest.raises(UserError) as caught:
        read_course(course_file(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path}/course.toml:{words}")


def test_a_lab_without_points_is_an_error(tmp_path):
    text = "[labs.stripes]\n[labs.stripes.checks]\n"
    text += "".join(f"{table}.points = 0\n" for table in read_course(course_file(tmp_path)).labs["stripes"].rubric_rows_by_name())
    assert main(["check", str(course_file(tmp_path, text))]) == 2
    course = read_course(course_file(tmp_path, text))
    with pytest.raises(UserError, match=r"course\.toml:2: no check of stripes has points"):
        adapted_rubric(course, course.labs["stripes"])


def test_a_rubric_without_points_is_named_with_file_and_line(tmp_path):
    path = course_file(put(tmp_path, {"limits/one.toml": "lab = 'one'\n[a]\ncheck = 'A'\npoints = 'x'\nmax_score = 1\n"}), "")
    with pytest.raises(UserError, match=r"/limits/one\.toml:1: `max_score` is a number of points"):
        read_course(path, tmp_path / "limits")


def test_a_course_releases_labs_in_time(tmp_path):
    course = read_course(course_file(tmp_path))
    assert course.released_labs(datetime(2026, 11, 1, tzinfo=UTC)) == []
    assert course.released_labs(datetime(2026, 11, 10, tzinfo=UTC)) == ["twins"]
    assert course.released_labs(NOW) == ["twins", "stripes"]


# ---- a class -------------------------------------------------------------------------------------

CLASS = """attempt = "{attempt}"
overrides = "overrides.csv"
[late]
per_cent_per_day = 10
slip_days = 1
[labs.shuffle]
due = 2026-11-22T10:00:00Z
[labs.swizzle]
due = 2026-11-24T10:00:00Z
weight = 2
[extensions.ben]
shuffle = 2026-11-23T10:00:00Z
[excused]
cleo = ["swizzle"]
"""
# Blackboard's names tell the student and the time of an attempt.
FILES = {
    "Lab_ada_attempt_2026-11-21-10-00-00_shuffle.cu": 90,
    "Lab_ada_attempt_2026-11-24-09-00-00_shuffle.cu": 95,  # two days late: 20 %, or 10 % after the slip day
    "Lab_ada_attempt_2026-11-24-09-00-01_swizzle.cu": 80,
    "Lab_ben_attempt_2026-11-23-09-00-00_shuffle.cu": 70,  # in time, by the extension
    "Lab_ben_attempt_2026-11-23-09-00-01_swizzle.cu": 30,
    "Lab_cleo_attempt_2026-11-23-09-00-00_shuffle.cu": 50,  # a day late
    "Lab_cleo_attempt_2026-11-23-09-00-01_swizzle.cu": 60,  # excused
    "Lab_dan_attempt_2026-11-20-09-00-00_shuffle.cu": 40,
    "Lab_dan_attempt_2026-11-21-09-00-00_shuffle.cu": 20,
}


def graded_class(folder, attempt, monkeypatch, *options):
    monkeypatch.setenv("TZ", "UTC")
    made = Classroom(folder)
    put(made.submissions, {name: f"// score {score}" for name, score in FILES.items()})
    overrides = "id,lab,check,points,reason\nben,swizzle,,35.5,told me so\n"
    course = course_file(folder, CLASS.format(attempt=attempt), overrides)
    assert made.run("--course", course, *options) == 0, made.err_text
    assert (folder / "overrides.csv").read_text() == overrides
    return made


SLIPPED = "shuffle: late, 1 slip day used, 0 left"


def test_a_class_is_graded_by_its_course(tmp_path, monkeypatch):
    rows = graded_class(tmp_path, "last", monkeypatch).rows()
    points = {name: (row["shuffle"], row["swizzle"], row["score"], row["max_score"]) for name, row in rows.items()}
    assert points == {
        "ada": ("85.5", "80", "245.5", "300"), "ben": ("70", "35.5", "141", "300"),
        "cleo": ("50", "excused", "50", "100"), "dan": ("20", "0", "20", "300"),
    }  # fmt: skip
    assert f"{SLIPPED}; shuffle: late, 10 % taken" in rows["ada"]["notes"]
    assert "swizzle: 35.5 points, set by the instructor: told me so" in rows["ben"]["notes"]
    assert SLIPPED in rows["cleo"]["notes"] and "swizzle: excused" in rows["cleo"]["notes"]


def test_points_of_an_excused_lab_are_not_among_the_classes(tmp_path, monkeypatch):
    results = analysis.ClassResults(graded_class(tmp_path, "last", monkeypatch).out)
    assert sorted(results.list_of_points_in_lab("swizzle")) == [35.5, 80]
    assert results.max_points_of_lab("swizzle") == 100


def test_a_students_page_shows_an_override_and_its_reason(tmp_path, monkeypatch):
    page = (graded_class(tmp_path, "last", monkeypatch, PAGES).out / "pages/ben.html").read_text()
    assert "swizzle: 35.5 points, set by the instructor: told me so" in page
    assert "141 of 300 points count; 130 before lateness and changes by the instructor." in page


@pytest.mark.parametrize(
    "attempt, ada, dan, words",
    [
        ("best", "90", "40", "shuffle: of 2 attempts Lab_ada_attempt_2026-11-21-10-00-00_shuffle.cu counts"),
        ("best_before_due", "90", "40", "shuffle: of 2 attempts Lab_ada_attempt_2026-11-21-10-00-00_shuffle.cu counts"),
    ],
)
def test_the_best_attempt_counts_if_the_course_says_so(tmp_path, monkeypatch, attempt, ada, dan, words):
    made = graded_class(tmp_path, attempt, monkeypatch)
    rows = made.rows()
    assert (rows["ada"]["shuffle"], rows["dan"]["shuffle"]) == (ada, dan)
    assert words in rows["ada"]["notes"]
    before = len(made.graded())
    assert made.run("--course", tmp_path / "course.toml") == 0
    assert len(made.graded()) == before  # nothing is graded again
    assert made.rows() == rows


def test_ids_that_no_student_has_are_listed(tmp_path):
    made = Classroom(tmp_path)
    put(made.submissions, {"ada/shuffle.cu": "// score 9"})
    text = "[extensions.zoe]\ndays = 2\n[excused]\nada = ['shuffle']\n"
    assert made.run("--course", course_file(tmp_path, text)) == 0
    assert "in the course's file, and no student's id:\n  zoe\n" in made.err_text
    assert "ada" not in made.err_text.partition("in the course's file")[2]


# ---- one submission ------------------------------------------------------------------------------


def lab32(*words, folder=ROOT):
    return subprocess.run([BINARY, *map(str, words)], cwd=folder, capture_output=True, text=True)


def test_grade_uses_the_course(tmp_path, own_labs):
    words = ["grade", "--course", course_file(tmp_path), "--dir", own_labs / "solutions", "--device", "sim", "stripes"]
    done = lab32(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    (lab,) = json.loads(done.stdout)["labs"]
    assert {test["name"]: (test["status"], test["max_score"]) for test in lab["tests"]} == {
        "B1 scale: result": ("not run", 16.67), "B1 scale: sectors": ("passed", 33.33),
    }  # fmt: skip
    assert lab["tests"][0]["not_run"]["kind"] == "hidden"
    assert lab["score"] == lab["max_score"] == 33.33
    on_gradescope = json.loads(lab32(*words, "--format", "gradescope").stdout)
    assert {test["name"]: (test["visibility"], test["score"]) for test in on_gradescope["tests"]} == {
        "stripes: B1 scale: result": ("after_due_date", 16.67), "stripes: B1 scale: sectors": ("visible", 33.33),
    }  # fmt: skip
    assert on_gradescope["score"] == 50


def test_report_and_explain_use_the_course(tmp_path, own_labs):
    words = ["stripes", "--course", course_file(tmp_path), "--dir", own_labs / "solutions", "--device", "sim"]
    done = lab32("report", *words, "--no-history", "-o", tmp_path / "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("page.html: 33.33 / 33.33 points\n")
    assert lab32("explain", *words).returncode == 0
    done = lab32("explain", "swizzle", *words[1:])
    assert done.returncode == 2 and "the course has no lab `swizzle`" in done.stderr


def test_grade_reports_a_wrong_course_in_one_line(tmp_path):
    path = course_file(tmp_path, COURSE.replace('"best"', '"first"'))
    done = lab32("grade", "--course", path, "--dir", "solutions")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lab32: {path}:2: attempt must be")
    done = lab32("grade", "swizzle", "--course", course_file(tmp_path), "--dir", "solutions")
    assert done.returncode == 2
    assert "the course has no lab `swizzle`; its labs are: twins, stripes" in done.stderr


def test_a_course_needs_no_package_that_the_wheel_alone_lacks(tmp_path):
    code = f"""
import sys
from lab32.command import CLASS
sys.modules |= dict.fromkeys([*CLASS, "numpy", "tomlkit"])
from lab32.course.__main__ import main
sys.exit(main(["check", {str(course_file(tmp_path))!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, TABLE), done.stderr


def test_lab32_course_check_is_a_command(tmp_path):
    done = lab32("course", "check", course_file(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, TABLE, "")


def test_a_class_reports_a_wrong_course_in_one_line(tmp_path):
    made = Classroom(tmp_path)
    put(made.submissions, {"ada/shuffle.cu": ""})
    assert made.run("--course", course_file(tmp_path, "attempt = 3\n")) == 2
    assert made.err_text == f'lab32: {tmp_path}/course.toml:1: attempt must be "last" or "best_before_due" or "best"\n'
    assert not made.graded()
