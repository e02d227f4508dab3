"""`make dist COURSE=course.toml`: students get the labs that are released, with the points of the course."""

import subprocess
import sys
import tomllib

from lab32 import ROOT

COURSE = """[labs.reduction]
release = 2999-01-01T00:00:00Z
[labs.transpose]
due = 2001-01-01T00:00:00Z
[labs.histogram]
due = 2999-01-01T00:00:00Z
checks.by_warp.points = 0
[labs.shuffle]
due = 2999-01-01T00:00:00Z
"""


def packed(folder, course):
    (folder / "course.toml").write_text(course)
    words = [ROOT / "grader/setup/dist/students.py", folder / "tree", ROOT / "build/lab32", folder / "course.toml"]
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_students_get_the_released_labs_of_a_course(tmp_path):
    done = packed(tmp_path, COURSE)
    assert done.returncode == 0, done.stderr
    tree = tmp_path / "tree"
    assert {path.stem for path in tree.glob("data/limits/*")} == {"transpose", "histogram", "shuffle"}
    assert {path.name for path in (tree / "labs").iterdir()} == {"README.md", "include", "transpose", "histogram", "shuffle"}
    pages = {path.stem for path in (tree / "handouts").glob("*.md")}
    assert {"transpose", "histogram", "shuffle", "transpose-notes", "glossary", "model"} <= pages
    assert not pages & {"reduction", "reduction-notes", "shuffle-notes", "instructors"}
    assert not [path for path in tree.rglob("*reduction*") if path.suffix == ".md"]
    assert "shuffle-notes.md" not in (tree / "handouts/shuffle.md").read_text()  # the link's words remain
    rubric = tomllib.loads((tree / "data/limits/histogram.toml").read_text())
    points = {name: row["points"] for name, row in rubric.items() if isinstance(row, dict) and "points" in row}
    assert (points["by_warp"], round(sum(points.values()), 2)) == (0, 100)


def test_a_course_without_a_released_lab_is_an_error(tmp_path):
    done = packed(tmp_path, "[labs.reduction]\nrelease = 2999-01-01T00:00:00Z\n")
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}/course.toml: no lab of the course is released yet\n")
