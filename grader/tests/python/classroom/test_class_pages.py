"""OUT/pages has a self-contained page per student, made from the stored result."""

import json
import os
import re

import pytest
import sample_pictures as sample
from class_tools import PAGES, Classroom, class_of, put

from lab32.report.page import redraw_command
from lab32.results import parse_result

TEXTS = {
    "ann": "// score 100",
    "Jörg <b>": "// score 60\n// fails B1: <script>alert(1)</script> & more",
    "小明": "// error expected a ;",
    "gus": "// machine no nvcc",
}
LATE = (
    "due = 2001-01-01T00:00:00Z\n[late]\nper_cent_per_day = 50\ncap_per_cent = 10\nuse_file_times = true\n"
)


@pytest.fixture
def classroom(tmp_path):
    made = Classroom(tmp_path)
    class_of(made.submissions, TEXTS)
    put(made.submissions, {"absent/notes.txt": ""})
    return made


def pages(classroom):
    """{student: text}, found through the `files` column of scores.csv."""
    rows = {row["files"]: name for name, row in classroom.rows().items()}
    return {rows[path.stem]: path.read_text() for path in (classroom.out / "pages").iterdir()}


def test_every_student_with_points_has_a_page(classroom):
    assert classroom.run(PAGES) == 2  # gus
    made = pages(classroom)
    assert made.keys() == {"ann", "Jörg <b>", "小明"}
    assert "100 / 100 points" in made["ann"]
    assert "<h1>lab32 report: Jörg &lt;b&gt;</h1>" in made["Jörg <b>"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in made["Jörg <b>"]
    assert "expected a ;" in made["小明"]
    assert not any("seed" in html for html in made.values()), "all students share it"
    assert "Not readable: notes.txt." in (classroom.out / "reports/absent.txt").read_text()
    for html in made.values():
        assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import", html), "it loads nothing"
    assert classroom.graded().count("ann") == 1


@pytest.mark.slow
def test_a_page_is_rewritten_when_its_contents_change(classroom):
    classroom.run(PAGES)
    ann = classroom.out / "pages/ann.html"

    def written_by(*options):
        before = ann.stat().st_mtime_ns if ann.exists() else 0
        classroom.run(PAGES, *options)
        return ann.stat().st_mtime_ns != before

    assert not written_by()
    assert written_by("--course", put(classroom.folder, {"course.toml": LATE}) / "course.toml")
    assert "90 of 100 points count; 100 before lateness and changes by the instructor." in ann.read_text()
    assert "shuffle: late, 10 % taken" in ann.read_text()
    ann.unlink()
    assert written_by()
    ann.write_bytes(b"\xff half")
    assert written_by()
    class_of(classroom.submissions, {"ann": "// score 50"})
    assert written_by()
    assert "50 / 100 points" in ann.read_text()
    assert classroom.graded().count("ann") == 2


def test_pages_can_be_turned_off(classroom):
    classroom.run()
    assert list((classroom.out / "pages").iterdir()) == []


def test_a_page_that_cannot_be_written_is_reported_and_affects_nothing_else(classroom):
    classroom.run()
    os.rmdir(classroom.out / "pages")
    put(classroom.out, {"pages": "x"})
    assert classroom.run(PAGES) == 2
    assert ".class/records: cannot be made" not in classroom.err_text
    assert f"{classroom.out}/pages: " in classroom.err_text
    assert len(classroom.rows()) == len(TEXTS) + 1


def test_an_invalid_result_costs_only_its_page(classroom):
    changed = classroom.binary.read_text().replace(
        '"figures": {},', '"figures": {"sectors": "x", "ideal_sectors": 8},'
    )
    classroom.binary.write_text(changed.replace('"measured": "",', '"measured": "9 sectors",'))
    class_of(classroom.submissions, {"gus": "// score 1"})
    assert classroom.run(PAGES) == 2
    assert "pages not written:\n" in classroom.err_text
    assert classroom.err_text.count("TypeError") == 4
    assert classroom.scores()["ann"] == "100"


def test_the_page_names_the_command_that_draws():
    record = sample.result("")
    assert redraw_command(parse_result(json.dumps(record))) == "", "it has pictures"
    mappings = dict.fromkeys(sample.launch(), "") | {"mappings": sample.launch()["mappings"]}
    for test in record["labs"][0]["tests"]:
        test["pictures"] = mappings if test["pictures"] else None
    assert redraw_command(parse_result(json.dumps(record))) == "lab32 report coalescing --seed 7"
