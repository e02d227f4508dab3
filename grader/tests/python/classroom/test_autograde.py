"""lab32.autograde, which Gradescope and Autolab run, chooses and reads what `lab32 class` does."""

import json

import pytest
from class_tools import Classroom, fake_grader, put, zipped
from export_layouts import SEVEN_ZIP, points, tarred

from lab32 import autograde, handed_in

SUBMISSIONS = {
    "a project": {"labs/shuffle/shuffle.cu": points(80), "solutions_old/shuffle/shuffle.cu": points(10)},
    "folder of the lab first": {"shuffle/shuffle.cu": points(70), "old/labs/shuffle/shuffle.cu": points(10)},
    "the exact name first": {"shuffle.cu": points(60), "shuffle (1).cu": points(10), "my_shuffle.cu": points(20)},
    "a name with an attempt": {"Shuffle (2).CU": points(50), "shuffle (1).cu": points(10)},
    "a prefix": {"my_shuffle.cu": points(40), "notes.txt": ""},
    "any name": {"lab1.cu": points(30)},
    "handin": {"handin.cu.txt": points(35), "__MACOSX/._handin.cu": "x"},
    "a zip": {"work.zip": zipped({"hw/shuffle.cu": points(25)})},
    "a tar in a zip": {"work.zip": zipped({"work.tgz": tarred({"shuffle.cu": points(45)}, "w:gz")})},
    "own headers": {"shuffle.cu": '#include "inc/u.h"\n' + points(55), "inc/u.h": ""},
    "nothing that can be read": {"work.7z": SEVEN_ZIP},
    "a broken zip": {"work.zip": b"PK\3\4 half"},
    "a path that leads out": {"work.zip": zipped({"../shuffle.cu": points(10)})},
}


def graded(folder, files, form, capsys):
    put(folder / "submission", files)
    words = [str(folder / "submission"), form, "--labs", "shuffle", "--binary", str(fake_grader(folder))]
    status = autograde.main(words)
    return status, capsys.readouterr()


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_has_one_score(tmp_path, capsys, name):
    classroom = Classroom(tmp_path)
    put(classroom.submissions / "ann", SUBMISSIONS[name])
    classroom.run("--labs", "shuffle")
    row = classroom.rows()["ann"]
    status, said = graded(tmp_path, SUBMISSIONS[name], "gradescope", capsys)
    assert status == 0
    assert f"{json.loads(said.out)['score']:g}" == (row["score"] or "0")


def test_what_was_chosen_is_told(tmp_path, capsys):
    _, said = graded(tmp_path, SUBMISSIONS["a project"], "gradescope", capsys)
    assert json.loads(said.out)["output"].startswith(
        "shuffle: graded is labs/shuffle/shuffle.cu; passed over: solutions_old/shuffle/shuffle.cu\n"
    )


def test_what_cannot_be_read_is_told(tmp_path, capsys):
    _, said = graded(tmp_path, {"work.7z": SEVEN_ZIP}, "gradescope", capsys)
    assert "Nothing is graded of work.7z. Hand in shuffle.cu, or a zip or tar" in json.loads(said.out)["output"]


def test_a_broken_zip_on_autolab_ends_with_its_json_line(tmp_path, capsys):
    status, said = graded(tmp_path, SUBMISSIONS["a broken zip"], "autolab", capsys)
    assert status == 0
    assert said.out.startswith("The submission is refused: work.zip is not a readable zip archive.\n")
    assert json.loads(said.out.splitlines()[-1]) == {"scores": {"shuffle": 0}}
    assert said.err == ""


def test_a_fault_of_the_machine_gives_no_score(tmp_path, capsys):
    status, said = graded(tmp_path, {"shuffle.cu": "// machine there is no nvcc\n"}, "autolab", capsys)
    assert (status, said.out) == (2, "")


def test_lab32_grade_asks_for_the_same_choice(tmp_path, capsys):
    put(tmp_path, SUBMISSIONS["the exact name first"] | {"swizzle/main.cu": "", "notes.txt": ""})
    handed_in.main([str(tmp_path), "shuffle", "swizzle"])
    assert capsys.readouterr().out.splitlines() == [
        "shuffle\tshuffle.cu\tshuffle (1).cu, my_shuffle.cu", "swizzle\tswizzle/main.cu\t",
    ]  # fmt: skip
