"""Every file of an export has a row, in each platform's layout (export_layouts.py)."""

import pytest
from class_tools import Classroom, put
from export_layouts import GRADED, LAYOUTS, NOT_READABLE, points


def write(classroom, layout):
    """Writes the export; a single archive is SUBMISSIONS itself, and a content of None is an empty folder."""
    if len(layout.files) == 1 and not next(iter(layout.files)).endswith(".cu"):
        ((name, content),) = layout.files.items()
        put(classroom.folder, {name: content})
        classroom.submissions = classroom.folder / name
        return
    for name, content in layout.files.items():
        if content is None:
            (classroom.submissions / name).mkdir(parents=True)
        else:
            put(classroom.submissions, {name: content})


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name())
def test_a_layout_gets_its_rows(tmp_path, layout):
    classroom = Classroom(tmp_path / "class")
    write(classroom, layout)
    groups = ["--groups", put(tmp_path, {"groups.csv": layout.groups}) / "groups.csv"] if layout.groups else []
    status = classroom.run(*layout.options, *groups)
    rows = classroom.rows()
    assert {name: (row["status"], row["score"]) for name, row in rows.items()} == {
        name: (status, score) for name, (status, score, _) in layout.rows.items()
    }
    unread = [name for name, row in layout.rows.items() if row[0] == NOT_READABLE]
    assert status == (2 if unread else 0), classroom.err_text
    for name, (_, _, words) in layout.rows.items():
        assert words in rows[name]["notes"]
    for name in unread:
        assert f"  {name}: " in classroom.err_text


def test_what_was_passed_over_is_told_to_the_student(tmp_path):
    classroom = Classroom(tmp_path)
    put(classroom.submissions, {"ann/shuffle.cu": points(50), "ann/my_shuffle.cu": points(60), "ann/swizzle.7z": ""})
    assert classroom.run("--labs", "shuffle,swizzle") == 2
    report = (classroom.out / "reports/ann.txt").read_text()
    assert "shuffle: 2 files, graded is shuffle.cu; passed over: my_shuffle.cu\n" in report
    assert "Not readable: swizzle.7z." in report


def test_a_changed_header_is_graded_again(tmp_path):
    classroom = Classroom(tmp_path)
    files = {"ann/shuffle.cu": '#include "util.h"\n' + points(50), "ann/util.h": "// 1"}
    put(classroom.submissions, files)
    assert classroom.run() == 0
    assert (classroom.out / "submissions/ann/shuffle/util.h").read_text() == "// 1"
    put(classroom.submissions, {"ann/util.h": "// 2"})
    assert classroom.run() == 0
    assert classroom.graded() == ["ann", "ann"]
    assert classroom.rows()["ann"]["status"] == GRADED
