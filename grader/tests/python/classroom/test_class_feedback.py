"""OUT/feedback.zip has the names that the platform gave, so that it takes them back."""

import re
import zipfile

import pytest
from class_tools import PAGES, Classroom, put, zipped
from export_layouts import points

from lab32.classroom.feedback import feedback_name_in_zip
from lab32.classroom.worker import reason_for_zero_points, without_seed

# Moodle's is_valid_filename_for_import() splits path and name at `_`: name, number, type of plugin, plugin, file.
MOODLE = re.compile(r"[^_]+_\d+_assignsubmission_file_.+")
# Canvas' infer_comment_context_from_filename() finds the user's number and the file's.
CANVAS = re.compile(r".+_\d+_\d+_.+")


@pytest.mark.parametrize(
    "came_as, name",
    [
        ("Jane Doe_11_assignsubmission_file_", "Jane Doe_11_assignsubmission_file_/lab32.html"),
        ("Jane Doe_11_assignsubmission_file_work.tar.gz", "Jane Doe_11_assignsubmission_file_work.html"),
        ("doejane_LATE_11_501_shuffle-1.cu", "doejane_LATE_11_501_shuffle-1.html"),
        ("doejane_11_501_report.pdf", "doejane_11_501_report.pdf.html"),
        ("Jane Doe", "Jane Doe/lab32.html"),
        ("ann_shuffle.cu", "ann_shuffle.html"),
    ],
)
def test_the_names_of_feedback(came_as, name):
    assert feedback_name_in_zip(came_as, ".html") == name


def names_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_moodle_and_canvas_take_the_feedback_back(tmp_path):
    classroom = Classroom(tmp_path)
    put(classroom.submissions, {
        "shuffle/Jane Doe_11_assignsubmission_file_/shuffle.cu": points(50),
        "shuffle/Pat Poe_12_assignsubmission_file_/work.7z": b"",
        "swizzle/doejane_21_501_swizzle.cu": points(60), "swizzle/leeann_22_502_work.zip": zipped({"a.cu": points(70)}),
    })  # fmt: skip
    classroom.run(PAGES)
    shuffle, swizzle = (names_of(classroom.out / f"feedback-{lab}.zip") for lab in ("shuffle", "swizzle"))
    assert all(map(MOODLE.fullmatch, shuffle)) and len(shuffle) == 2
    assert all(map(CANVAS.fullmatch, swizzle)) and len(swizzle) == 2
    assert "Jane Doe" in shuffle["Jane Doe_11_assignsubmission_file_/lab32.html"]
    assert "Not readable: work.7z" in shuffle["Pat Poe_12_assignsubmission_file_/lab32.txt"]
    assert not any("seed" in text for text in (*shuffle.values(), *swizzle.values()))


def test_the_notes_say_why_a_zero_is_a_zero(tmp_path):
    classroom = Classroom(tmp_path)
    put(classroom.submissions, {
        "ann/shuffle.cu": "// error labs/shuffle/shuffle.cu:12:3: error: expected a `;`\n",
        "bob/shuffle.cu": "// score 0\n",
    })  # fmt: skip
    assert classroom.run("--labs", "shuffle,swizzle") == 0
    notes = {name: row["notes"] for name, row in classroom.rows().items()}
    assert notes["ann"] == "shuffle: does not compile: line 12; swizzle: not handed in"
    assert notes["bob"] == "shuffle: no check passed; swizzle: not handed in"


@pytest.mark.parametrize(
    "message, reason",
    [
        ("shuffle/shuffle.cu cannot be read: it is empty", "empty"),
        ("shuffle/shuffle.cu cannot be read: it is not a text file: line 3 contains a zero byte", "not text"),
        ("shuffle/shuffle.cu:12:3: error: expected a `;`\n   12 | x\n", "does not compile: line 12"),
        ("shuffle/util.h:7:1: error: unknown type\n", "does not compile: util.h line 7"),
        ("shuffle/shuffle.cu:3:10: fatal error: a.h: No such file\n", "does not compile: line 3"),
        ("shuffle/shuffle.cu: the simulator cannot run it", "the simulator cannot run it"),
    ],
)
def test_the_reason_of_a_zero(message, reason):
    assert reason_for_zero_points(message) == reason


def test_the_seed_is_hidden_from_the_score_report():
    text = b"shuffle  seed 7\n\ntotal   sim:h200 (simulated counts), seed 7        27.7 / 100\n"
    assert without_seed(text, 7) == text.replace(b", seed 7", b" " * 8)
    wrapped = b"x\ntotal   sim:h200 (simulated counts)   27.7 / 100\n        NVIDIA H200 (measured times), seed 7\n"
    assert without_seed(wrapped, 7).endswith(b"NVIDIA H200 (measured times)\n")
