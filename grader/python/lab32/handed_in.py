"""python -m lab32.handed_in FOLDER LAB...: the file of each lab among what a student handed in, for `lab32 grade`.

Prints a line per lab: its name, the file below FOLDER, and the files that were passed over, separated by tabs."""

import sys
from pathlib import Path

from lab32 import labs
from lab32.classroom import chooser
from lab32.classroom.entries import entries_below_folder, is_junk_path
from lab32.classroom.problem import UserError, printable_line


def main(arguments=None):
    folder, *asked = arguments or sys.argv[1:]
    known = sorted({*labs.rubric_path_by_lab(), *asked})
    try:
        entries = [entry for entry in entries_below_folder(folder) if entry.kind == "file" and not is_junk_path(entry.parts)]
    except (UserError, OSError) as error:
        sys.exit(f"lab32: {printable_line(error)}")
    found, _ = chooser.find_candidate_files(entries, known, asked)
    for lab, several in chooser.group_candidates_by_lab(found).items():
        first, *others = ("/".join(each.entry.parts) for each in several)
        if not any(c in first for c in "\t\n"):
            print(lab, Path(first), ", ".join(printable_line(name) for name in others[:3]), sep="\t")


if __name__ == "__main__":
    main()
