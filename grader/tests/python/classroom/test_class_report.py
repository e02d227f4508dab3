"""report.html: its contents, that it is self-contained, and that nothing on it runs."""

import re

import pytest
from bs4 import BeautifulSoup
from class_tools import REPORT, Classroom, class_of, put

from lab32.classroom import analysis, leaders
from lab32.classroom.analysis import first_explaining_line
from lab32.classroom.problem import last_error_sentence

TEXTS = {
    "ann": "// score 100",
    "bob": "// score 80\n// fails A1: ./shuffle/shuffle.cu:7\n",
    "cem": "// score 60\n// fails B1: n = 33: wrong in 5 of 9",
    "dia": "// score 60\n// fails B1: n = 65: wrong in 5 of 9",
    "eve": "// score 60\n// fails B1: n = 65: wrong in 5 of 9",
    "fay": "// score 70\n// fails B1: <script>alert(1)</script> \u202e&amp;",
    "broken": "// error expected a ;",
    "gus": "// machine no nvcc",
}


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    made = Classroom(tmp_path_factory.mktemp("class"))
    class_of(made.submissions, TEXTS)
    put(made.submissions, {"absent/notes.txt": ""})
    put(
        made.folder,
        {
            "course.toml": "due = 2001-01-01T00:00:00Z\n[late]\nper_cent_per_day = 50\ncap_per_cent = 10\nuse_file_times = true\n"
        },
    )
    made.status = made.run(REPORT, "--leaderboard", "--course", made.folder / "course.toml")
    return made


@pytest.fixture(scope="module")
def page(classroom):
    return BeautifulSoup((classroom.out / "report.html").read_text(), "html.parser")


def rows_of(table):
    return [[cell.get_text() for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]


@pytest.mark.slow
def test_the_page_shows_the_numbers_of_the_results(classroom, page):
    assert classroom.status == 2  # one is not graded, and the report is there all the same
    counts, labs, failures, checks, _, leaders = page.find_all("table")
    assert rows_of(counts) == [["graded", "7"], ["not readable", "1"], ["not graded", "1"]]
    assert rows_of(labs) == [
        ["shuffle", "7", "100", "42.43", "45", "0", "0", "1", "6, 33 points taken"]
    ]
    assert rows_of(checks) == [
        ["A1", "50", "71 %", "5", "2"],
        ["B1", "50", "23 %", "1", "5"],
    ]
    assert [row[:2] + row[3:4] for row in rows_of(failures)] == [
        ["shuffle", "B1", "6"], ["shuffle", "A1", "2"],
    ]  # fmt: skip
    assert rows_of(failures)[0][4:] == ["n = 65: wrong in 5 of 9", "3"]
    assert [row[0] for row in rows_of(leaders)] == ["1", "2", "2", "2"]
    points, seconds = (img["alt"] for img in page.find_all("img"))
    assert points == "7 students by points of 100; the median is 45"
    assert seconds.startswith("9 students by seconds that the grading took; the median is 0.")


@pytest.mark.slow
def test_the_page_needs_no_network_and_runs_no_script(page):
    assert page.find_all(["script", "iframe", "object", "embed", "link", "form"]) == []
    for tag in page.find_all(True):
        for name, value in tag.attrs.items():
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href", "action"):
                # A picture in an <img> cannot run anything.
                inside = ("data:image/svg+xml;base64,",) if tag.name == "img" else ()
                assert value.startswith(("#", *inside)), f"{tag.name} {name}={value[:80]}"
    assert "default-src 'none'" in page.find("meta", attrs={"http-equiv": True})["content"]
    assert "url(http" not in str(page) and "@import" not in str(page)


@pytest.mark.slow
def test_the_page_names_no_student(classroom, page):
    text = page.get_text()
    assert not [name for name in TEXTS if re.search(rf"\b{name}\b", text)]
    known = (classroom.out / "pseudonyms.csv").read_text().splitlines()
    assert known[0] == "id,name,pseudonym"
    mine = dict(line.split(",")[1:] for line in known[1:])
    assert set(mine) == {*TEXTS, "absent"}
    assert mine["ann"] in text
    assert (classroom.out / ".class/pseudonyms").stat().st_mode & 0o077 == 0


def test_text_of_students_is_escaped():
    shown = analysis.html_table(["a"], [["<script>\u202e\x1b&amp;"]]).text
    assert "<td>&lt;script&gt;\\u202e\\x1b&amp;amp;</td>" in shown


@pytest.mark.slow
def test_an_unchanged_page_is_not_written_again(classroom):
    page = classroom.out / "report.html"
    before = page.stat().st_mtime_ns
    (classroom.submissions / "gus").rename(classroom.folder / "gus")
    options = ("--leaderboard", "--course", classroom.folder / "course.toml")
    assert classroom.run(*options) == 2  # absent's notes cannot be graded
    assert not page.exists(), "another class: the page is no longer its"
    put(classroom.out, {"report.html": "of this class"})
    assert classroom.run(REPORT, *options) == 2
    assert page.read_text() == "of this class" and before


@pytest.mark.slow
def test_a_page_that_cannot_be_made_is_reported(classroom, monkeypatch):
    monkeypatch.setattr("lab32.classroom.page.NOTEBOOK", put(classroom.folder, {
        "bad.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 99, "x": ',
    }) / "bad.ipynb")  # fmt: skip
    (classroom.out / "report.html").unlink()
    assert classroom.run(REPORT) == 2
    assert f"lab32: {classroom.out}/report.html: not written: " in classroom.err_text
    assert (classroom.out / "scores.csv").exists()


@pytest.mark.parametrize(
    "text, said",
    [
        ("Traceback:\n  File x\nKeyError: 'lab'", "KeyError: 'lab'"),
        ("No template 'lab' in:\n\t/usr/share/jupyter\n\t/etc/jupyter", "No template 'lab' in: /usr/share/jupyter /etc/jupyter"),
        ("", ""),
    ],
)
def test_the_last_sentence_of_an_error_is_one_line(text, said):
    assert last_error_sentence(text) == said


@pytest.mark.parametrize(
    "message, said",
    [
        (
            "./shuffle/shuffle.cu:7\n    int x = secret;\nWarp 0 of block 0: bad.\nMore.",
            "Warp 0 of block 0: bad.",
        ),
        ("All is well elsewhere.", "All is well elsewhere."),
        ("./a.cu:7\n    code\nThis check counts once the result is right: see `B1`.", ""),
        ("./a.cu:7\n", ""),
        ("", ""),
    ],
)
def test_the_quoted_sentence_of_a_message(message, said):
    assert first_explaining_line(message) == said


def test_pseudonyms_are_stable_and_distinct():
    names = leaders.pseudonyms(b"secret", [f"s{i}" for i in range(2000)])
    assert len(set(names.values())) == 2000
    assert all(re.fullmatch("([bdfgklmnprstvz][aeiou]){3}", name) for name in names.values())
    assert leaders.pseudonyms(b"secret", [f"s{i}" for i in range(2000)]) == names
    assert leaders.pseudonyms(b"other", ["s1"])["s1"] != names["s1"]
