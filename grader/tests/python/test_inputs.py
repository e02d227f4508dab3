"""Files that commands read: whatever they are, the command ends with status 2 and one line that names the file."""

import json
import os

import pytest
import sample_pictures as sample

from lab32 import inputs, results
from lab32.classroom import people
from lab32.classroom.gradebook import read_gradebook
from lab32.classroom.problem import UserError
from lab32.classroom.table import csv_text
from lab32.course.reader import read_course
from lab32.report import __main__ as report
from lab32.report import history

READERS = {
    "course": read_course,
    "roster": people.read_roster,
    "groups": people.read_members_by_group,
    "gradebook": lambda path: read_gradebook(path, ["shuffle"]),
    "result": inputs.read_json,
}


def pipe(folder):
    os.mkfifo(folder / "file")
    return folder / "file"


def large(folder):
    with open(folder / "file", "wb") as file:
        file.truncate((64 << 20) + 1)
    return folder / "file"


def folder_itself(folder):
    return folder


def bytes_that_are_no_text(folder):
    (folder / "file").write_bytes(b"id,name\n1,\xff\xfe\xfd\n")
    return folder / "file"


STRANGE = [lambda folder: "/dev/zero", pipe, large, folder_itself, bytes_that_are_no_text, lambda folder: folder / "none"]


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("reader", READERS)
def test_a_strange_file_is_one_line(tmp_path, reader, strange):
    path = strange(tmp_path)
    with pytest.raises(UserError) as caught:
        READERS[reader](path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


RESULTS = [
    "[]", "[1, 2]", "3", '"text"', "null", "{}", "[" * 100_000, '{"schema": "lab32-result/2"}',
    '{"schema": "lab32-result/2", "labs": 3}', '{"schema": "lab32-result/2", "labs": [3]}',
    '{"schema": "lab32-result/2", "labs": [{"lab": "x", "tests": [{"name": 3}]}]}',
    '{"schema": "lab32-result/2", "labs": [{"lab": "x", "tests": [{}]}]}',
    '{"schema": "lab32-result/2", "labs": []}', "{", "",
]  # fmt: skip


@pytest.mark.parametrize("text", RESULTS, ids=lambda text: text[:60])
def test_a_result_that_is_none_is_one_line(tmp_path, capsys, text):
    (tmp_path / "result.json").write_text(text)
    assert report.main(["--from", str(tmp_path / "result.json"), "--no-history"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"lab32 report: {tmp_path}/result.json") and said.count("\n") == 1


VALUES = [
    ("score", "NaN"), ("score", "Infinity"), ("score", "1e22"), ("score", "1" + "0" * 22), ("score", '"7"'),
    ("max_score", "true"), ("seed", "-1"), ("seed", "1.5"), ("device", "[]"), ("labs", "{}"),
]  # fmt: skip


@pytest.mark.parametrize("key, value", VALUES)
def test_a_value_out_of_range_is_refused(key, value):
    text = json.dumps(sample.result("") | {key: "@"}).replace('"@"', value)
    with pytest.raises(ValueError):
        results.parse_result(text)


@pytest.mark.parametrize(
    "change",
    [{"pictures": {"mappings": 3}}, {"figures": {"sectors": "x", "ideal_sectors": []}}, {"pictures": {"accesses": [{}]}}],
)
def test_pictures_that_cannot_be_drawn_are_one_line(tmp_path, capsys, change):
    record = sample.result("")
    record["labs"][0]["tests"][0] |= change
    (tmp_path / "result.json").write_text(json.dumps(record))
    status = report.main(["--from", str(tmp_path / "result.json"), "--no-history", "-o", str(tmp_path / "page.html")])
    assert status == 2 or (tmp_path / "page.html").exists()
    assert capsys.readouterr().err.count("\n") == (status == 2)


def test_a_history_with_strange_lines(tmp_path):
    (tmp_path / ".lab32").mkdir()
    lines = ["[]", "3", '{"lab": 3}', "[" * 10_000, '{"lab": "x", "time": "t", "score": NaN, "max_score": 1, "checks": {}}']
    good = {"lab": "x", "time": "t", "score": 1, "max_score": 2, "checks": {"A": {"measured": "", "figures": {"n": 3}}}}
    (tmp_path / ".lab32/history").write_text("\n".join([*lines, json.dumps(good)]))
    assert history.read_graded_attempts(tmp_path) == [good]


def test_a_history_that_is_a_pipe_is_one_line(tmp_path):
    (tmp_path / ".lab32").mkdir()
    os.mkfifo(tmp_path / ".lab32/history")
    with pytest.raises(UserError, match="history: not a regular file"):
        history.read_graded_attempts(tmp_path)


@pytest.mark.parametrize("header", ["ID", "Student", "SIS Login ID", "Section", "Current Score"])
def test_a_gradebooks_own_columns_are_never_overwritten(tmp_path, header):
    path = tmp_path / "grades.csv"
    path.write_text("Student,ID,SIS Login ID,Section,Swizzle (1),Current Score\nDoe,1,doe,A,,\n")
    with pytest.raises(UserError, match="stays as it is; name another column"):
        read_gradebook(path, ["swizzle"], [f"swizzle={header}"])
    assert read_gradebook(path, ["swizzle"], ["swizzle=Swizzle (1)"]).columns == {"swizzle": 4}


@pytest.mark.parametrize("text", ["=1+1", "＝1+1", "＋1+1", "－1", "＠SUM(1)", " =1+1", "@x", "\t=1", "-1+2"])
def test_a_cell_that_a_spreadsheet_would_compute_is_quoted(text):
    assert csv_text([[text]]).startswith(("'", '"\''))


@pytest.mark.parametrize("text", ["-1", "12.5", "-0.5", "Jane", "a=b"])
def test_other_cells_stay_as_they_are(text):
    assert csv_text([[text]]) == text + "\r\n"
