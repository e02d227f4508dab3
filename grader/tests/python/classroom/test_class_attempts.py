"""Several attempts: the last one counts."""

import pytest
from class_tools import put, zipped

from lab32.classroom.collect import collect_students


def last(folder):
    (student,), _ = collect_students(folder, ["shuffle", "swizzle"])
    return student.files["shuffle"].data.decode(), student.notes


@pytest.mark.parametrize(
    "earlier, later",
    [
        # Canvas: a file's number grows, and the name ends in -1, -2, ...
        ("doe_1_90_shuffle.cu", "doe_1_100_shuffle.cu"),
        ("doe_1_100_shuffle.cu", "doe_1_101_shuffle-1.cu"),
        ("doe_1_100_shuffle-9.cu", "doe_LATE_1_101_shuffle-10.cu"),
        ("doe_1_100_shuffle.cu", "doe_1_101_final.zip"),
        # Named by hand.
        ("doe/shuffle (9).cu", "doe/shuffle (10).cu"),
        ("doe/shuffle_v2.cu", "doe/shuffle_v10.cu"),
        ("doe/attempt_9/shuffle.cu", "doe/attempt_10/shuffle.cu"),
        ("doe_shuffle.cu", "doe_shuffle-2.cu"),
        # Not attempts: the file whose name matches better counts.
        ("doe/shuffle-2.cu", "doe/shuffle.cu"),
        ("doe/old shuffle copy.cu", "doe/shuffle.cu"),
        ("doe/backup/shuffle.cu", "doe/shuffle.cu"),
    ],
)
def test_the_last_attempt_counts(tmp_path, earlier, later):
    for name, text in ((earlier, "earlier"), (later, "later")):
        put(tmp_path, {name: zipped({"shuffle.cu": text}) if name.endswith("zip") else text})
    data, notes = last(tmp_path)
    assert data == "later"
    assert notes[0].startswith("shuffle: 2 files, graded is ")


def test_gradescopes_later_submission_counts(tmp_path):
    submissions = {"submission_5": "2026-11-21", "submission_9": "2026-11-20"}
    metadata = "".join(
        f"{name}:\n  :submitters:\n  - :name: Doe\n    :sid: '1'\n  :created_at: {day} 10:00:00.0 Z\n"
        for name, day in submissions.items()
    )
    put(tmp_path, {f"{name}/shuffle.cu": day for name, day in submissions.items()})
    put(tmp_path, {"submission_metadata.yml": metadata})
    assert last(tmp_path)[0] == "2026-11-21"


def test_each_lab_has_its_own_last_attempt(tmp_path):
    put(tmp_path, {
        "doe_1_100_shuffle.cu": "1", "doe_1_101_swizzle.cu": "2", "doe_1_102_shuffle-1.cu": "3",
    })  # fmt: skip
    (student,), _ = collect_students(tmp_path, ["shuffle", "swizzle"])
    assert {lab: source.data for lab, source in student.files.items()} == {
        "shuffle": b"3", "swizzle": b"2",
    }  # fmt: skip
