"""OUT/pages/NAME.html: a student's page, as of `lab32 report`, of the result that is there: nothing is
graded again. It is self-contained, so that it can be mailed."""

import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path

from lab32 import results
from lab32.classroom.problem import visible
from lab32.classroom.scores import total
from lab32.report import page

MARK = "<!-- made of {} -->\n"


@cache
def made_by():
    """Changes when a page of the same result might."""
    files = [Path(__file__), *sorted(Path(page.__file__).parent.iterdir())]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def notes_of(row):
    """What the score report does not know: what the late policy takes, which file was chosen."""
    notes = [visible(note, 300) for note in row.notes]
    before, after = total(row.raw.values()), total(row.final.values())
    if before != after:
        notes.insert(
            0,
            f"{after:g} of {row.max_score:g} points count; {before:g} without what being late takes.",
        )
    return notes


def mark_of(row, record):
    words = repr((record["sha256"], row.name(), notes_of(row)))
    return MARK.format(
        hashlib.sha256(made_by() + words.encode("utf-8", "backslashreplace")).hexdigest()
    )


def write_page(store, row):
    """Whether there is one now that was not there; one of the same result is not made again. Raises what
    reading, drawing or writing raises."""
    record, path = store.record(row.slug), store.page(row.slug)
    mark = mark_of(row, record)
    try:
        with open(path, encoding="utf-8") as file:
            if file.readline() == mark:
                return False
    except (OSError, UnicodeDecodeError):
        pass
    source = store.result(row.slug)
    result = results.parse(source.read_text(), source=source)
    graded = datetime.fromtimestamp(source.stat().st_mtime).astimezone()
    html = page.report_page(result, [], graded, name=visible(row.name()), notes=notes_of(row))
    store.write(path, mark + html)
    return True
