"""Copies the parts of labs, handouts and data that students get: no solutions, no answers, no reasons.

usage: students.py TREE LAB32 [COURSE]

Writes TREE/labs, TREE/handouts and TREE/data; LAB32 is the built program, which seals the answers. With a
course.toml, only its released labs are packed; they have the points of the course, and notes after the deadline.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import tomlkit

ROOT = Path(__file__).resolve().parents[3]

sys.path.insert(0, str(ROOT / "grader/python"))
from lab32 import labs  # noqa: E402
from lab32.course.reader import read_course, read_rubric, default_course  # noqa: E402
from lab32.course.rubrics import adapted_rubric, write_rubrics  # noqa: E402


class AllExcept(set):
    def __contains__(self, value):
        return not super().__contains__(value)


def row_filters_by_released_file(packed):
    """Returns {files below data/: {column: the values of the rows that students get}} for all files that the grader
    and the notebooks read. The files of a single lab are listed in its grader/labs/<lab>/notebook.py."""
    withheld = set().union(*(labs.notebook_attribute(lab, "WITHHELD_KERNELS", set()) for lab in labs.lab_names()))
    found = {
        "devices/*.toml": {},
        "documented/*.csv": {},
        "modelled/*.csv": {},
        "simulated/solutions.csv": {"kernel": AllExcept(withheld)},
        "simulated/solutions-checks.csv": {},
        "measured/h200-labs.csv": {},
    }
    for lab in packed:
        found |= labs.notebook_attribute(lab, "STUDENTS_RECORDS", {})
        times = f"measured/h200-{lab}.csv"
        if lab in labs.lab_names("core") or (ROOT / "data" / times).exists():
            found[times] = {}
    return found


LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def rubric_with_hashed_answers(lab, limits, program):
    """Returns the text of a lab's rubric with hashed answers, and without reasons and comments."""
    lines = subprocess.run(
        [program, "seal", lab], env=os.environ | {"LAB32_ROOT": str(ROOT)},
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    hashes = {(table, question): sealed for table, question, sealed in map(str.split, lines)}
    for name, table in limits.items():
        if not isinstance(table, dict):
            continue
        table.pop("reason", None)
        for question, value in table.get("questions", {}).items():
            value["answer"] = hashes.pop((name, question))
    if hashes:
        raise ValueError(f"{lab}: {', '.join(map('.'.join, hashes))} not found in the rubric")
    return tomlkit.dumps(limits)


def select_csv_rows(text, wanted):
    """Keeps the rows of a CSV that have one of the wanted values; the CSV may begin with lines `# key: value`."""
    if not wanted:
        return text
    lines = text.splitlines(keepends=True)
    head = sum(line.startswith("#") for line in lines)
    reader = csv.DictReader(lines[head:])
    chosen = [
        line for line, row in zip(lines[head + 1 :], reader, strict=True)
        if all(row[column] in values for column, values in wanted.items())
    ]  # fmt: skip
    return "".join(lines[: head + 1] + chosen)


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lab_of(path):
    """The lab that a file or folder of labs/ or handouts/ is about, by its name; None: all labs."""
    name = path.name.partition(".")[0].partition("-")[0]
    return name if name in labs.lab_names() else None


def copy_labs_and_handouts(tree, packed, with_notes):
    """Copies labs/ and handouts/ without the instructors' page and without hidden files, which belong to editors.
    Links to files that are not packed become plain words."""

    def names_to_exclude(folder, names):
        paths = [Path(folder, name) for name in names]
        return [path.name for path in paths if path.name.startswith((".", "__")) or path.name == "instructors.md"
                or ((lab := lab_of(path)) and (lab not in packed or (path.stem.endswith("-notes") and lab not in with_notes)))]  # fmt: skip

    for top in ("labs", "handouts"):
        shutil.copytree(ROOT / top, tree / top, ignore=names_to_exclude)
    for top in ("labs", "handouts"):
        for page in (tree / top).rglob("*.md"):
            page.write_text(LINK.sub(lambda link, page=page: link[0] if (page.parent / link[2]).exists() else link[1], page.read_text()))


def copy_needed_data_into_tree(tree, packed):
    data = ROOT / "data"
    for pattern, wanted in row_filters_by_released_file(packed).items():
        found = sorted(data.glob(pattern))
        if not found:
            raise FileNotFoundError(f"data/{pattern}")
        for path in found:
            write_text(tree / "data" / path.relative_to(data), select_csv_rows(path.read_text(), wanted))


def main():
    tree, program, *file = sys.argv[1:]
    course, now = read_course(*file) if file else default_course(), datetime.now().astimezone()
    packed = course.released_labs(now)
    if not packed:
        sys.exit(f"{file[0]}: no lab of the course is released yet")
    if file:
        with tempfile.TemporaryDirectory() as folder:
            write_rubrics(course, folder, program)  # checks them
    with_notes = [lab for lab in packed if not (due := course.latest_due_time(lab)) or due <= now]
    copy_labs_and_handouts(Path(tree), packed, with_notes)
    copy_needed_data_into_tree(Path(tree), packed)
    for lab in packed:
        limits = adapted_rubric(course, course.labs[lab]) if file else read_rubric(course.labs[lab].rubric_path)
        write_text(Path(tree, f"data/limits/{lab}.toml"), rubric_with_hashed_answers(lab, limits, program))


if __name__ == "__main__":
    main()
