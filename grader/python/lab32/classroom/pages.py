"""Writes OUT/pages/NAME.html: a student's page as `lab32 report` makes it, from the stored result.
Nothing is graded again. The page is self-contained, so that it can be mailed."""

import hashlib
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from lab32 import results
from lab32.classroom.problem import printable_line
from lab32.report import page

FINGERPRINT = "<!-- made of {} -->\n"


@cache
def page_generator_bytes():
    """Bytes that change whenever the page of an unchanged result might change."""
    files = [Path(__file__), *sorted(Path(page.__file__).parent.iterdir())]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def notes_for_student(row):
    """The facts that a page has in addition to the score report: the course's rules, and which file was chosen."""
    notes = [printable_line(note, 300) for note in row.notes]
    before, after = row.total_points(row.raw), row.total_points(row.final)
    if before != after:
        notes.insert(
            0,
            f"{after:g} of {row.max_score:g} points count; {before:g} before lateness and changes by the instructor.",
        )
    return notes


def page_fingerprint(row, record):
    words = repr((record["sha256"], row.display_name(), notes_for_student(row)))
    return FINGERPRINT.format(
        hashlib.sha256(page_generator_bytes() + words.encode("utf-8", "backslashreplace")).hexdigest()
    )


def write_student_page(store, row):
    """Writes the page unless an up-to-date one exists. Returns whether it was written; raises any error of
    reading, drawing or writing."""
    record, path = store.read_record(row.slug), store.student_page_path(row.slug)
    mark = page_fingerprint(row, record)
    try:
        with open(path, encoding="utf-8") as file:
            if file.readline() == mark:
                return False
    except (OSError, UnicodeDecodeError):
        pass
    source = store.result_path(row.slug)
    # The seed is left out: it is the same for all students, and a student who knows it can repeat the inputs.
    result = replace(results.parse_result(source.read_text(), source=source), seed=None)
    graded = datetime.fromtimestamp(source.stat().st_mtime).astimezone()
    html = page.report_page(result, [], graded, name=printable_line(row.display_name()), notes=notes_for_student(row))
    store.write_file(path, mark + html)
    return True
