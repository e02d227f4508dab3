"""python -m lab32.autograde FOLDER FORMAT: grades what a student handed in below FOLDER, for a platform's autograder.

It chooses the files as `lab32 class` does, opens zip and tar archives, runs `lab32 grade`, and adds to its output what
was chosen and what could not be read. Exit status: 0: graded, with or without lost points; 2: not graded."""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from lab32 import ROOT, labs
from lab32.classroom import chooser
from lab32.classroom.entries import (
    SOURCE_BYTES,
    SizeBudget,
    SubmissionRefused,
    entries_below_folder,
    open_nested_archives,
)
from lab32.classroom.problem import UserError, printable_line
from lab32.pictures import best_picture_kind, draw_picture
from lab32.results import CheckResult

GRADED, NOT_GRADED = 0, 2
# Where these formats show a summary; the others of JSON have no place.
PLACES = {"gradescope": ("output",), "prairielearn": ("message",), "submitty": ("data", "message")}
NO_PLACE = ("classroom50", "codegrade")
PICTURE_BYTES, MOST_PICTURES = 600_000, 3


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="lab32.autograde", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("format")
    parser.add_argument("--labs", required=True, help="the graded labs, separated by blanks")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--limit", default="30", help="seconds for each lab")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/lab32")
    return parser.parse_args(arguments)


def read_submission_files_and_notes(folder, asked):
    """({path below labs/: bytes}, what the student is told) of a submission."""
    known = sorted({path.stem for path in (ROOT / "data/limits").glob("*.toml")} | set(asked))
    try:
        entries = list(open_nested_archives(entries_below_folder(folder), SizeBudget()))
        found, left = chooser.find_candidate_files(entries, known, asked)
        tree, told = {}, []
        for lab, candidates in chooser.group_candidates_by_lab(found).items():
            entry = candidates[0].entry
            data = entry.read(SOURCE_BYTES + 1)
            tree |= {f"{lab}/{path}": text for path, text in chooser.student_headers_for_source(entry, data, entries).items()}
            tree[f"{lab}/{lab}.cu"] = data
            passed_over = ", ".join(each.entry.printable_name() for each in candidates[1:4])
            told.append(f"{lab}: graded is {entry.printable_name()}" + (f"; passed over: {passed_over}" if passed_over else ""))
    except SubmissionRefused as error:
        return {}, [f"The submission is refused: {error}."]
    missing = [lab for lab in asked if f"{lab}/{lab}.cu" not in tree]
    others = [each.printable_name() for each in left + [e for e in entries if not e.is_cu_file() and not e.is_header()]]
    if missing and others:
        told.append(
            f"Nothing is graded of {', '.join(others[:3])}{' ...' if len(others) > 3 else ''}. "
            f"Hand in {' and '.join(f'{lab}.cu' for lab in missing)}, or a zip or tar of them."
        )
    return tree, told


def add_student_notes_to_output(output, autograder_format, told):
    """The grader's output with the notes in the place where the platform shows them."""
    if not told or not output:
        return output
    if autograder_format in NO_PLACE:
        print("\n".join(told), file=sys.stderr)
        return output
    if autograder_format not in PLACES:
        return "".join(line + "\n" for line in told) + "\n" + output
    record = json.loads(output)
    *above, name = PLACES[autograder_format]
    place = record
    for part in above:
        place = place.get(part, {})
    place[name] = "\n".join([*told, "", place.get(name, "")])
    return json.dumps(record, indent=2) + "\n"


def add_classroom50_fields(output, environment):
    """Classroom 50's result with the fields that name the repository, from the variables that its runner sets."""
    record = json.loads(output)
    commit = environment.get("COMMIT_URL", "")
    named = {
        "classroom": environment.get("CLASSROOM", ""),
        "assignment": environment.get("ASSIGNMENT", ""),
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "owner": environment.get("OWNER") or environment.get("USERNAME", ""),
        "submission": environment.get("SUBMISSION_TAG", ""),
        "commit": commit,
        "release": environment.get("RELEASE_URL", ""),
        "review": environment.get("REVIEW_URL") or commit,
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return json.dumps({"schema": record.pop("schema")} | named | record, indent=2) + "\n"


def prairielearn_picture_of_check(lab, test, device):
    """The check's picture as PrairieLearn takes it; None if there is none."""
    own = labs.lab_specific_pictures(lab, CheckResult(test["name"], test["status"], 0, 0, figures=test["figures"]), device)
    launch = test.get("pictures")
    kind = launch and "withheld_until" not in launch and best_picture_kind(launch, test["name"])
    if not own and not kind:
        return None
    picture = draw_picture(launch, kind, check=test["name"]) if kind in ("race", "fault") or not own else own[0]
    data = base64.b64encode(str(picture).encode()).decode()
    return {"label": kind or picture.title, "url": f"data:image/svg+xml;base64,{data}"}


def add_pictures_to_prairielearn_output(output, result):
    """PrairieLearn's record with pictures at the first checks that lost points. Its limit is 1 MB."""
    record, room, left = json.loads(output), PICTURE_BYTES, MOST_PICTURES
    tests = {f"{lab['lab']}: {test['name']}": (lab["lab"], test) for lab in result["labs"] for test in lab["tests"]}
    for shown in record["tests"]:
        lab, test = tests.get(shown["name"], ("", {}))
        picture = prairielearn_picture_of_check(lab, test, result["device"]) if left and test.get("status") == "failed" else None
        if picture and len(picture["url"]) <= room:
            shown["images"], room, left = [picture], room - len(picture["url"]), left - 1
    return json.dumps(record, indent=2) + "\n"


def grade_single_submission(options):
    asked = options.labs.split()
    tree, told = read_submission_files_and_notes(options.folder, asked)
    with tempfile.TemporaryDirectory() as work:
        Path(work, "labs").mkdir()
        for name, data in tree.items():
            path = Path(work, "labs", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        drawn = ["--pictures", "--json", "result.json"] if options.format == "prairielearn" else []
        done = subprocess.run(
            [str(options.binary.absolute()), "grade", *asked, "--device", "sim", "--time-limit", options.limit,
             "--allow-missing", "--format", options.format, *drawn],
            cwd=work, env=dict(os.environ, LAB32_THREADS=options.threads), stdout=subprocess.PIPE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        output = done.stdout.decode("utf-8", "replace")
        if drawn and output and Path(work, "result.json").exists():
            output = add_pictures_to_prairielearn_output(output, json.loads(Path(work, "result.json").read_text()))
        if options.format == "classroom50" and done.returncode in (0, 1):
            output = add_classroom50_fields(output, os.environ)
    sys.stdout.write(add_student_notes_to_output(output, options.format, told))
    return GRADED if done.returncode in (0, 1) else NOT_GRADED


def main(arguments=None):
    options = parse_options(arguments)
    try:
        return grade_single_submission(options)
    except UserError as problem:
        print(f"lab32: {problem}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"lab32: {printable_line(error)}", file=sys.stderr)
    return NOT_GRADED


if __name__ == "__main__":
    sys.exit(main())
