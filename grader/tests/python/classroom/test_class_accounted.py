"""300 students who hand in all kinds of files, in a run that is killed at ten moments: each file is accounted for."""

import random
import time

import pytest
from class_tools import Classroom, put, zipped
from export_layouts import GRADED, NOT_READABLE, RAR, REFUSED, SEVEN_ZIP, points, tarred

SEED = 52
# {kind: (name below the export, content, status)}; `{}` is the student's name, None an empty folder.
KINDS = {
    "folder": ("{}/shuffle.cu", None, GRADED),
    "project": ("{}/labs/shuffle/shuffle.cu", None, GRADED),
    "text": ("{}/shuffle.cu.txt", None, GRADED),
    "attempt": ("{}/Shuffle (2).CU", None, GRADED),
    "flat": ("{}_shuffle.cu", None, GRADED),
    "zip": ("{}.zip", lambda text: zipped({"work/shuffle.cu": text}), GRADED),
    "tar": ("{}.tar", lambda text: tarred({"shuffle.cu": text}), GRADED),
    "tgz": ("{}.tgz", lambda text: tarred({"shuffle.cu": text}, "w:gz"), GRADED),
    "nested": ("{}/work.zip", lambda text: zipped({"a.tar.xz": tarred({"shuffle.cu": text}, "w:xz")}), GRADED),
    "7z": ("{}.7z", lambda text: SEVEN_ZIP, NOT_READABLE),
    "rar": ("{}/work.rar", lambda text: RAR, NOT_READABLE),
    "pdf": ("{}_shuffle.pdf", lambda text: "%PDF", NOT_READABLE),
    "notebook": ("{}/shuffle.ipynb", lambda text: "{}", NOT_READABLE),
    "empty": ("{}/", None, NOT_READABLE),
    "broken": ("{}.zip", lambda text: b"PK\3\4 half", REFUSED),
    "hostile": ("{}.zip", lambda text: zipped({"../shuffle.cu": text}), REFUSED),
}  # fmt: skip


def hand_in(classroom, name, kind, score):
    path, made, _ = KINDS[kind]
    if kind == "empty":
        (classroom.submissions / name).mkdir(parents=True)
    else:
        put(classroom.submissions, {path.format(name): made(points(score)) if made else points(score)})


@pytest.mark.slow
def test_each_of_300_students_is_accounted_for_after_ten_kills(tmp_path):
    draw, classroom = random.Random(SEED), Classroom(tmp_path)
    students = {f"s{i:03}": (draw.choice(list(KINDS)), i % 100) for i in range(300)}
    for name, (kind, score) in students.items():
        hand_in(classroom, name, kind, score)
    for _ in range(10):
        process = classroom.start("--labs", "shuffle", jobs=4)
        time.sleep(draw.uniform(0.3, 3))
        process.kill()
        process.communicate()
    assert classroom.run("--labs", "shuffle", jobs=4) == 2  # some cannot be read
    rows = classroom.rows()
    assert rows.keys() == students.keys()
    for name, (kind, score) in students.items():
        status = KINDS[kind][2]
        points_of = {GRADED: str(score), REFUSED: "0", NOT_READABLE: ""}[status]
        assert (rows[name]["status"], rows[name]["score"]) == (status, points_of), (name, kind)
        if status == NOT_READABLE:
            assert name in classroom.err_text or "and " in classroom.err_text
            assert rows[name]["notes"].startswith("not readable: ")
    assert len({path.stem for path in (classroom.out / "reports").iterdir()}) == 300
