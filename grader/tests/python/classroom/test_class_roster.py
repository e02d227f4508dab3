"""Every student in the roster has a row, and other submissions are reported."""

import pytest
from class_tools import put

from lab32.classroom import people
from lab32.classroom.collect import collect_students
from lab32.classroom.problem import UserError
from lab32.classroom.table import EditableCsvFile

LABS = ["shuffle"]


def roster(folder, text):
    (folder / "roster.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return people.read_roster(folder / "roster.csv")


def problem(folder, text):
    with pytest.raises(UserError) as caught:
        roster(folder, text)
    return str(caught.value).removeprefix(f"{folder}/")


def match(folder, files, text):
    put(folder / "in", files)
    students, _ = collect_students(folder / "in", LABS)
    found, unmatched = people.match_students(students, roster(folder, text))
    return {key: person.id for key, person in found.items()}, unmatched


def test_rosters_may_use_the_platforms_column_names(tmp_path):
    (person,) = roster(
        tmp_path,
        "Last Name,First name,SIS Login ID,Canvas ID,Email address\r\nDoe,Jane,jd1,77,j@x.edu\r\n",
    )
    assert (person.id, person.name) == ("jd1", "Jane Doe")
    assert person.ids == (("sid", "jd1"), ("canvas", "77"), ("email", "j@x.edu"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_rosters_of_spreadsheets_are_read(tmp_path, encoding, delimiter):
    text = 'id|name\r\n7|"王; 小明, ""Ming"""\r\n8|Jörg\r\n'.replace("|", delimiter)
    assert [p.name for p in roster(tmp_path, text.encode(encoding))] == ['王; 小明, "Ming"', "Jörg"]


def test_canvas_ids_match_canvas_files(tmp_path):
    found, unmatched = match(
        tmp_path,
        {"doejane_77_1_shuffle.cu": "", "x_78_2_shuffle.cu": ""},
        "id,canvas id\na,77\nb,99\n",
    )
    assert found == {"canvas:77": "a"}
    assert unmatched == ["x: no student in the roster has this id or name"]


def test_ids_of_different_kinds_do_not_match(tmp_path):
    found, _ = match(tmp_path, {"doe_77_1_shuffle.cu": ""}, "id number,email\n77,a@x.edu\n")
    assert found == {}


def test_folders_named_by_id_or_by_name(tmp_path):
    found, unmatched = match(
        tmp_path,
        {"s17/shuffle.cu": "", "Doe, Jane/shuffle.cu": "", "ann lee/shuffle.cu": ""},
        "id,name\ns17,X\ns18,Jane Doe\ns19,Ann Lee\n",
    )
    assert found == {"name:s17": "s17", "name:Doe, Jane": "s18", "name:ann lee": "s19"}
    assert unmatched == []


def test_an_ambiguous_name_matches_no_student(tmp_path):
    _, unmatched = match(
        tmp_path,
        {"Jane Doe/shuffle.cu": "", "y/shuffle.cu": ""},
        "id,name\n1,Jane Doe\n2,Jane Doe\n3,y\n",
    )
    assert unmatched == ["Jane Doe: more than one student in the roster has this id or name"]


def test_two_submissions_of_one_roster_entry_are_reported(tmp_path):
    found, unmatched = match(
        tmp_path, {"s1/shuffle.cu": "", "a@x.edu/shuffle.cu": ""}, "id,email\ns1,a@x.edu\n"
    )
    assert found == {"name:a@x.edu": "s1"}
    assert unmatched == ["s1: a@x.edu is the same person according to line 2 of the roster"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "roster.csv: the file is empty; its first line must name the columns"),
        ("id,name\n", "roster.csv: the roster has a header and no students"),
        ("who,points\n1,2\n", "roster.csv:1: it has no column with ids (id, student id, email, ...); "
         "its columns are `who`, `points`"),
        ("id,name\n1,a\n,b\n", "roster.csv:3: this row has no id; fill one in, or delete the row"),
        ("id,name\n1,a\n2,b\n1,c\n", "roster.csv:4: the id `1` is also in line 2; delete one of them"),
        ("id,name\n1,a,b\n", "roster.csv:2: this line has 3 cells, the first line has 2; "
         "put text with a comma into quotation marks"),
        ("id,id\n1,2\n", "roster.csv:1: two columns are called `id`; rename one"),
        ('id,name\n1,"a\n2,b\n', "roster.csv:2: a quotation mark is not closed; close it, or double it "
         "where it is part of the text"),
        (b"id,name\n1,J\xf6rg\n", "roster.csv:2: this line is not UTF-8; save the file as `CSV UTF-8`"),
        (b"id\0\n", "roster.csv:1: this line has a NUL byte, so the file is not CSV; export it again as CSV"),
        ("id,submitted_at\n1,yesterday\n", "roster.csv:2: `yesterday` is not a time; "
         "write it as 2026-11-23T23:59:00+01:00"),
    ],
)  # fmt: skip
def test_a_bad_roster_is_reported_in_one_line(tmp_path, text, words):
    assert problem(tmp_path, text) == words


def test_a_missing_roster_is_reported(tmp_path):
    with pytest.raises(UserError, match="none.csv: cannot be read: No such file or directory"):
        people.read_roster(tmp_path / "none.csv")


def test_empty_lines_of_a_roster_are_ignored(tmp_path):
    assert len(roster(tmp_path, "id,name\n\n1,a\n\n\n2,b\n")) == 2


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_an_unchanged_table_is_written_byte_for_byte(newline):
    data = 'a,"b, ""c""",d|1, x ,"two|lines"'.replace("|", newline)
    table = EditableCsvFile((data + newline).encode(), "t")
    assert table.rows[0][2] == f"two{newline}lines"
    assert table.bytes_with_changes({}) == (data + newline).encode()
    changed = table.bytes_with_changes({(0, 1): "9"}).decode()
    assert changed == data.replace(" x ", "9") + newline
