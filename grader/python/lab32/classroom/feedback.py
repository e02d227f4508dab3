"""Writes OUT/feedback.zip: each student's page under the name by which the platform exported the submission, which
Moodle (*Upload multiple feedback files in a zip*) and Canvas (*Upload Submissions*) take back. Where the export has a
folder per lab, there is one zip for each: feedback-shuffle.zip."""

import os
import secrets
import zipfile
from collections import defaultdict
from pathlib import Path

from lab32.classroom import names
from lab32.classroom.entries import ARCHIVE, SOURCE

FILE = "lab32"


def feedback_name_in_zip(came_as, ending):
    """`Jane Doe_11_assignsubmission_file_/lab32.html`, `doejane_11_501_shuffle.html`."""
    flat = SOURCE.fullmatch(came_as) or ARCHIVE.fullmatch(came_as)
    if flat:
        return names.stem_of_source_or_archive_name(came_as) + ending
    owner = names.owner_in_platform_file_name(came_as)
    if owner and owner.file:  # a flat file that is neither a .cu nor an archive
        return came_as + ending
    return f"{came_as}/{FILE}{ending}"


def feedback_zip_entries(store, rows):
    """{lab, or "": {name in the zip: file}} of all students with a page or a report."""
    zips = defaultdict(dict)
    for row in rows:
        there = [path for path in (store.student_page_path(row.slug), store.report_path(row.slug)) if path.exists()]
        last = dict(row.student.came_as)  # one page for each student and assignment
        for lab, came_as in last.items() if there else ():
            zips[lab].setdefault(feedback_name_in_zip(came_as, there[0].suffix), there[0])
    return zips


def write_feedback_zip_per_lab(store, rows):
    """Writes the zips; returns their paths."""
    written = []
    for lab, files in feedback_zip_entries(store, rows).items():
        path, beside = store.out / (f"feedback-{lab}.zip" if lab else "feedback.zip"), Path(store.incomplete_files_folder(), secrets.token_hex(12))
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, file in files.items():
                archive.writestr(name.encode("utf-8", "backslashreplace").decode(), file.read_bytes())
        os.replace(beside, path)
        written.append(path)
    return written
