"""Platforms' exports are turned into one file per student and lab."""

import pytest
from class_tools import LABS, put, zipped

from lab32.classroom.collect import collect_students, labs_handed_in
from lab32.classroom.problem import UserError

# Names with spaces, in several scripts, with characters that are special to shells and spreadsheets.
PEOPLE = [
    "Jane Doe",
    "Jörg Müller",
    "王 小明",
    "Άννα Σωκράτους",
    "أحمد علي",
    "-rf *",
    "=1+1",
    "O'Neill; ls",
]


def files(path, labs=LABS):
    students, left_out = collect_students(path, labs)
    found = {
        student.name: {lab: source.data.decode() for lab, source in student.files.items()}
        for student in students
    }
    assert len(found) == len(students)
    return found, left_out


@pytest.mark.parametrize("name", PEOPLE)
def test_a_folder_per_student(tmp_path, name):
    put(
        tmp_path,
        {f"{name}/shuffle.cu": "1", f"{name}/code/swizzle/swizzle.cu": "2", "x/shuffle.cu": "3"},
    )
    assert files(tmp_path) == ({name: {"shuffle": "1", "swizzle": "2"}, "x": {"shuffle": "3"}}, [])


@pytest.mark.parametrize("name", PEOPLE)
def test_flat_files(tmp_path, name):
    put(tmp_path, {f"{name}_shuffle.cu": "1", f"{name}_swizzle.cu": "2", "x_shuffle.cu": "3"})
    assert files(tmp_path) == ({name: {"shuffle": "1", "swizzle": "2"}, "x": {"shuffle": "3"}}, [])


def test_a_zip_per_student(tmp_path):
    put(
        tmp_path,
        {f"{n}.zip": zipped({"deep/er/shuffle.cu": n, "swizzle/main.cu": "2"}) for n in PEOPLE},
    )
    assert files(tmp_path) == ({n: {"shuffle": n, "swizzle": "2"} for n in PEOPLE}, [])


def test_everything_in_one_zip(tmp_path):
    inner = {f"{n}/shuffle.cu": n for n in PEOPLE if n != "O'Neill; ls"} | {
        "z.zip": zipped({"shuffle.cu": "z"})
    }
    path = tmp_path / "submissions.zip"
    path.write_bytes(zipped(inner))
    found, left_out = files(path)
    assert found == {n: {"shuffle": n} for n in [*PEOPLE[:-1], "z"]}
    assert left_out == []


def test_canvas(tmp_path):
    put(tmp_path, {
        "doejane_11_501_shuffle.cu": "1", "doejane_11_502_swizzle.cu": "2",
        "leeann_LATE_12_503_my work.zip": zipped({"shuffle.cu": "3", "swizzle.cu": "4"}),
        "textwriter_13_504_text.html": "<p>",
    })  # fmt: skip
    found, left_out = files(tmp_path)
    assert found == {
        "doejane": {"shuffle": "1", "swizzle": "2"},
        "leeann": {"shuffle": "3", "swizzle": "4"},
        "textwriter": {},
    }
    assert left_out == []


def test_canvas_marks_late_submissions(tmp_path):
    put(tmp_path, {"doejane_LATE_11_501_shuffle.cu": "1", "leeann_12_502_shuffle.cu": "2"})
    students, _ = collect_students(tmp_path, LABS)
    assert [student.files["shuffle"].late for student in students] == [True, False]


def test_moodle_folders_and_flat(tmp_path):
    put(tmp_path, {
        "Jane Doe_11_assignsubmission_file_/shuffle.cu": "1",
        "Jane Doe_11_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        "王 小明_12_assignsubmission_file/swizzle.cu": "2",
        "Ann Lee_13_assignsubmission_file_shuffle.cu": "3",
    })  # fmt: skip
    found, left_out = files(tmp_path)
    assert found == {
        "Jane Doe": {"shuffle": "1"}, "王 小明": {"swizzle": "2"}, "Ann Lee": {"shuffle": "3"},
    }  # fmt: skip
    assert left_out == []


def test_moodle_has_other_numbers_in_each_assignment(tmp_path):
    put(tmp_path, {
        "shuffle/Jane Doe_11_assignsubmission_file_/main.cu": "1",
        "swizzle/Jane Doe_21_assignsubmission_file_/main.cu": "2",
        "shuffle/Ann Lee_12_assignsubmission_file_/main.cu": "3",
    })  # fmt: skip
    students, _ = collect_students(tmp_path, LABS)
    assert [(s.name, sorted(s.files), s.ids) for s in students] == [
        ("Ann Lee", ["shuffle"], (("moodle", "12"),)),
        ("Jane Doe", ["shuffle", "swizzle"], (("moodle", "11"), ("moodle", "21"))),
    ]


def test_two_moodle_students_of_one_name_stay_two(tmp_path):
    put(tmp_path, {
        "shuffle/Jane Doe_11_assignsubmission_file_/main.cu": "1",
        "shuffle/Jane Doe_12_assignsubmission_file_/main.cu": "2",
        "swizzle/Jane Doe_21_assignsubmission_file_/main.cu": "3",
    })  # fmt: skip
    students, _ = collect_students(tmp_path, LABS)
    assert [student.ids[0][1] for student in students] == ["11", "12", "21"]


METADATA = """---
submission_901:
  :submitters:
  - :name: Jane Doe
    :sid: '0042'
    :email: jane@example.edu
  :created_at: 2026-11-20 12:00:00.000000000 Z
  :score: 0.0
  :history:
  - :created_at: 2026-11-19 12:00:00.000000000 Z
    :score: 1.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests: []
submission_902:
  :submitters:
  - :name: 王 小明
    :sid:
    :email: wang@example.edu
  - :name: Ann Lee
    :sid: '7'
    :email: ann@example.edu
  :created_at: 2026-11-21 12:00:00.000000000 Z
"""


def gradescope(folder, metadata=METADATA):
    return put(folder, {
        "assignment_77_export/submission_901/shuffle.cu": "1",
        "assignment_77_export/submission_902/shuffle.cu": "2",
        "assignment_77_export/submission_metadata.yml": metadata,
    })  # fmt: skip


def test_gradescope_and_its_groups(tmp_path):
    students, left_out = collect_students(gradescope(tmp_path), LABS)
    assert [(s.name, s.files["shuffle"].data, s.ids[0]) for s in students] == [
        ("Ann Lee", b"2", ("sid", "7")),
        ("Jane Doe", b"1", ("sid", "0042")),
        ("王 小明", b"2", ("email", "wang@example.edu")),
    ]
    assert students[1].files["shuffle"].time.isoformat() == "2026-11-20T12:00:00+00:00"
    assert left_out == []


def test_gradescope_without_its_metadata_uses_submission_numbers(tmp_path):
    gradescope(tmp_path)
    (tmp_path / "assignment_77_export/submission_metadata.yml").unlink()
    assert files(tmp_path)[0] == {
        "submission_901": {"shuffle": "1"}, "submission_902": {"shuffle": "2"},
    }  # fmt: skip


def test_gradescopes_metadata_cannot_run_code(tmp_path):
    metadata = "submission_901: !!python/object/apply:os.system ['true']\n"
    with pytest.raises(UserError, match="submission_metadata.yml:1: this is not valid YAML"):
        collect_students(gradescope(tmp_path, metadata), LABS)


@pytest.mark.parametrize("zips", [False, True])
def test_a_folder_or_zip_per_lab_around_any_of_these(tmp_path, zips):
    ofshuffle = {"doejane_11_501_main.cu": "1", "leeann_12_502_main.cu": "2"}
    ofswizzle = {"doejane_11_601_main.cu": "3"}
    if zips:
        put(tmp_path, {"shuffle.zip": zipped(ofshuffle), "Swizzle.zip": zipped(ofswizzle)})
    else:
        put(tmp_path / "shuffle", ofshuffle)
        put(tmp_path / "swizzle", ofswizzle)
    assert files(tmp_path) == (
        {"doejane": {"shuffle": "1", "swizzle": "3"}, "leeann": {"shuffle": "2"}}, [],
    )  # fmt: skip


def test_a_class_of_one_student(tmp_path):
    put(tmp_path, {"Jane Doe/shuffle/shuffle.cu": "1", "Jane Doe/swizzle/swizzle.cu": "2"})
    assert files(tmp_path)[0] == {"Jane Doe": {"shuffle": "1", "swizzle": "2"}}


def test_files_without_a_student_are_reported(tmp_path):
    put(tmp_path, {"shuffle.cu": "1", "notes.txt": "2", "ann_shuffle.cu": "3", ".DS_Store": "4"})
    found, left_out = files(tmp_path)
    assert found == {"ann": {"shuffle": "3"}, "notes": {}, "shuffle.cu": {}}
    assert left_out == []
    students, _ = collect_students(tmp_path, LABS)
    assert {student.name: student.unread for student in students if student.unread} == {
        "notes": "notes.txt",
        "shuffle.cu": "shuffle.cu: the name does not tell the student; student_LAB.cu would",
    }


def test_a_students_ignored_files_are_reported(tmp_path):
    put(tmp_path, {"ann/shuffle.cu": "1", "ann/helper.cu": "2", "ann/readme.md": "3"})
    students, _ = collect_students(tmp_path, ["shuffle"])
    assert students[0].notes == ["not looked at: helper.cu"]
    students, _ = collect_students(tmp_path, LABS)  # the other file may be meant as the other lab
    assert (students[0].notes, students[0].unread) == ([], "helper.cu")


def test_with_a_single_lab_any_file_name_is_accepted(tmp_path):
    put(tmp_path, {"ann/kernel.cu": "1", "bob/main.cu": "2", "bob/other.cu": "3"})
    found, _ = files(tmp_path, ["shuffle"])
    assert found == {"ann": {"shuffle": "1"}, "bob": {}}


def test_labs_with_at_least_one_file_are_graded(tmp_path):
    put(tmp_path, {"ann/shuffle.cu": "1", "bob/empty": ""})
    assert labs_handed_in(tmp_path, ["coalescing", *LABS]) == ["shuffle"]


def test_names_that_are_not_utf8(tmp_path):
    put(tmp_path, {"x/shuffle.cu": "1", "y/shuffle.cu": "1"})
    (tmp_path / "x").rename(str(tmp_path / "J\udcf6rg"))
    students, _ = collect_students(tmp_path, LABS)
    assert [student.name for student in students] == ["J\udcf6rg", "y"]
