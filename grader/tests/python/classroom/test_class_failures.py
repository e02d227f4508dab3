"""A failure affects only its own submission, and the report tells the student's faults from the grader's."""

import psutil
import pytest
from class_tools import Classroom, class_of, put, zipped

GOOD = {f"good {i}": f"// score {20 + i}" for i in range(3)}


@pytest.fixture
def classroom(tmp_path):
    return Classroom(tmp_path)


def test_broken_and_hostile_submissions_affect_only_themselves(classroom):
    class_of(classroom.submissions, GOOD | {
        "broken": "// error expected a ;",
        "crashes": "// signal SIGSEGV",
        "endless": "// endless",
        "garbled": "// broken",
        "no word": "// silent",
        "no toolchain": "// machine there is no nvcc",
        "bad node": f"// node fails {classroom.folder}/node\n// score 55",
        "once": f"// machine once {classroom.folder}/flag\n// score 77",
    })  # fmt: skip
    put(classroom.submissions, {"hostile.zip": zipped({"../../x.cu": "", "shuffle.cu": ""})})
    put(classroom.submissions, {"nothing/notes.txt": ""})
    assert classroom.run("--limit", 1, jobs=3) == 2
    said, rows = classroom.err_text, classroom.rows()

    # Failures of students' submissions: these have a score, possibly 0.
    for name, status, score in [
        *((name, "graded", str(20 + i)) for i, name in enumerate(GOOD)),
        ("broken", "graded", "0"),
        ("hostile", "refused", "0"),
        ("bad node", "graded", "55"),
        ("once", "graded", "77"),
    ]:
        assert (rows[name]["status"], rows[name]["score"]) == (status, score), name
        assert classroom.result(name)["score"] == float(score)
        assert (classroom.out / f"reports/{name}.txt").exists()
    assert (rows["nothing"]["status"], rows["nothing"]["score"]) == ("not readable", "")
    assert "../../x.cu points outside its archive" in rows["hostile"]["notes"]
    assert "refused: " in (classroom.out / "reports/hostile.txt").read_text()
    assert not (classroom.folder / "x.cu").exists()

    # Failures of the grader: no score, and no page that shows one.
    for name, why in [
        ("crashes", "the grader was ended by SIGSEGV"),
        ("endless", "not done after 1 s"),
        ("garbled", "the grader ended with status 1 and no result"),
        ("no word", "the grader ended with status 0 and no result"),
        ("no toolchain", "there is no nvcc"),
    ]:
        assert rows[name] | {"notes": ""} == {
            "id": name, "name": name, "status": "not graded", "score": "", "max_score": "",
            "before_late": "", "shuffle": "", "notes": "", "files": name,
        }  # fmt: skip
        assert rows[name]["notes"].startswith(why)
        assert not (classroom.out / f"results/{name}.json").exists()
        assert not (classroom.out / f"reports/{name}.txt").exists()
        assert (classroom.out / f".class/tries/{name}").read_text() == "2", "tried again once"
        assert f"  {name}: {why}\n" in said
    assert "not graded, through no fault of the student:\n" in said
    assert "refused:\n  hostile: ../../x.cu points outside its archive\n" in said
    assert "7 of 13 graded" in classroom.out_text
    assert [
        p for p in psutil.process_iter(["cwd"]) if str(classroom.out) in (p.info["cwd"] or "")
    ] == []


def test_ungraded_submissions_are_retried_by_the_next_run(classroom):
    flag = classroom.folder / "flag"
    text = f"// machine once {flag}\n// machine once {flag}2\n// score 50"
    class_of(classroom.submissions, GOOD | {"late nvcc": text})
    assert classroom.run() == 2
    assert classroom.rows()["late nvcc"]["notes"] == f"once {flag}2"
    assert classroom.run() == 0
    assert classroom.scores() == {"good 0": "20", "good 1": "21", "good 2": "22", "late nvcc": "50"}
    assert sorted(classroom.graded()) == ["good 0", "good 1", "good 2", "late nvcc"]


def test_names_with_characters_special_to_shells_and_spreadsheets(classroom):
    names = [
        "-rf *",
        "=1+1",
        "$(reboot)",
        "a'b\"c",
        "con",
        "王 小明",
        "أحمد",
        "J\u0308",
        "x" * 120,
        "CON",
    ]
    class_of(classroom.submissions, {name: f"// score {i}" for i, name in enumerate(names)})
    assert classroom.run() == 0
    text = (classroom.out / "scores.csv").read_text()
    assert "\n'=1+1,'=1+1,graded" in text
    scores = {row["files"]: row["score"] for row in classroom.rows().values()}
    assert sorted(scores.values(), key=int) == [str(i) for i in range(len(names))]
    assert {path.stem for path in (classroom.out / "results").iterdir()} == set(scores)


def test_the_roster_decides_which_students_have_rows(classroom):
    class_of(classroom.submissions, {"s1": "// score 60", "s9": "// score 70"})
    (classroom.folder / "roster.csv").write_text("id,name\ns1,Jane Doe\ns2,Ann Lee\n")
    assert classroom.run("--roster", classroom.folder / "roster.csv") == 0
    rows = [(r["id"], r["name"], r["status"], r["score"]) for r in classroom.rows().values()]
    assert sorted(rows) == [
        ("s1", "Jane Doe", "graded", "60"),
        ("s2", "Ann Lee", "not handed in", "0"),
        ("s9", "s9", "graded", "70"),
    ]
    assert (
        "not in the roster:\n  s9: no student in the roster has this id or name\n" in classroom.err_text
    )


def test_the_gradebook_gets_scores_after_the_deduction_for_lateness(classroom):
    put(
        classroom.submissions,
        {"doe_11_1_shuffle.cu": "// score 60", "lee_LATE_12_2_shuffle.cu": "// score 70"},
    )
    put(classroom.folder, {
        "course.toml": "due = 2026-11-23T12:00:00Z\nlate.per_cent_per_day = 10\n",
        "roster.csv": "canvas id,name,submitted_at\n11,Jane Doe,\n12,Ann Lee,2026-11-24T13:00:00Z\n",
        "book.csv": "Student,ID,Shuffle (9)\n    Points Possible,,10\nDoe,11,\nLee,12,\n",
    })  # fmt: skip
    options = [("--course", "course.toml"), ("--roster", "roster.csv"), ("--gradebook", "book.csv")]
    assert classroom.run(*(w for k, v in options for w in (k, classroom.folder / v))) == 0
    row = classroom.rows()["Ann Lee"]
    assert (row["score"], row["before_late"], row["notes"]) == (
        "56",
        "70",
        "shuffle: late, 20 % taken",
    )
    assert (classroom.out / "gradebook.csv").read_text() == (
        "Student,ID,Shuffle (9)\n    Points Possible,,10\nDoe,11,6\nLee,12,5.6\n"
    )
