"""python -m lab32.autograde FOLDER FORMAT: grades what a student handed in below FOLDER, for a platform's autograder.

It chooses the files as `lab32 class` does, opens zip and tar archives, runs `lab32 grade`, and adds to its output what
was chosen and what could not be read. Exit status: 0: graded, with or without lost points; 2: not graded."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lab32 import ROOT
from lab32.classroom import chooser
from lab32.classroom.entries import (
    SOURCE_BYTES,
    Budget,
    Refused,
    folder_entries,
    with_opened_archives,
)
from lab32.classroom.problem import Problem, visible

GRADED, NOT_GRADED = 0, 2


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="lab32.autograde", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("format")
    parser.add_argument("--labs", required=True, help="the graded labs, separated by blanks")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--limit", default="30", help="seconds for each lab")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/lab32")
    return parser.parse_args(arguments)


def handed_in(folder, asked):
    """({path below labs/: bytes}, what the student is told) of a submission."""
    known = sorted({path.stem for path in (ROOT / "data/limits").glob("*.toml")} | set(asked))
    try:
        entries = list(with_opened_archives(folder_entries(folder), Budget()))
        found, left = chooser.candidates(entries, known, asked)
        tree, told = {}, []
        for lab, candidates in chooser.chosen(found).items():
            entry = candidates[0].entry
            data = entry.read(SOURCE_BYTES + 1)
            tree |= {f"{lab}/{path}": text for path, text in chooser.headers(entry, data, entries).items()}
            tree[f"{lab}/{lab}.cu"] = data
            passed_over = ", ".join(each.entry.name() for each in candidates[1:4])
            told.append(f"{lab}: graded is {entry.name()}" + (f"; passed over: {passed_over}" if passed_over else ""))
    except Refused as error:
        return {}, [f"The submission is refused: {error}."]
    missing = [lab for lab in asked if f"{lab}/{lab}.cu" not in tree]
    others = [each.name() for each in left + [e for e in entries if not e.is_source() and not e.is_header()]]
    if missing and others:
        told.append(
            f"Nothing is graded of {', '.join(others[:3])}{' ...' if len(others) > 3 else ''}. "
            f"Hand in {' and '.join(f'{lab}.cu' for lab in missing)}, or a zip or tar of them."
        )
    return tree, told


def with_notes(output, form, told):
    """The grader's output with the notes in the place where the platform shows them."""
    if not told or not output:
        return output
    if form != "gradescope":
        return "".join(line + "\n" for line in told) + "\n" + output
    record = json.loads(output)
    record["output"] = "\n".join([*told, "", record.get("output", "")])
    return json.dumps(record, indent=2) + "\n"


def grade(options):
    asked = options.labs.split()
    tree, told = handed_in(options.folder, asked)
    with tempfile.TemporaryDirectory() as work:
        Path(work, "labs").mkdir()
        for name, data in tree.items():
            path = Path(work, "labs", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        done = subprocess.run(
            [str(options.binary.absolute()), "grade", *asked, "--device", "sim", "--time-limit", options.limit,
             "--allow-missing", "--format", options.format],
            cwd=work, env=dict(os.environ, LAB32_THREADS=options.threads), stdout=subprocess.PIPE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    sys.stdout.write(with_notes(done.stdout.decode("utf-8", "replace"), options.format, told))
    return GRADED if done.returncode in (0, 1) else NOT_GRADED


def main(arguments=None):
    options = options_of(arguments)
    try:
        return grade(options)
    except Problem as problem:
        print(f"lab32: {problem}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"lab32: {visible(error)}", file=sys.stderr)
    return NOT_GRADED


if __name__ == "__main__":
    sys.exit(main())
