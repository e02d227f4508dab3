"""lab32 report [LAB...] -o report.html: grades, and writes one page that needs no network."""

import argparse
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from lab32 import ROOT
from lab32.classroom.problem import UserError, printable_line
from lab32.questions import fetch_questions_and_reason
from lab32.report import history, page
from lab32.results import load_result, nearest_labs_folder, parse_result

FULL_MARKS, POINTS_LOST, NOT_GRADED = 0, 1, 2


def make_parser():
    p = argparse.ArgumentParser(prog="lab32 report", description=__doc__)
    p.add_argument("labs", nargs="*", metavar="LAB", help="the labs to grade (default: all)")
    p.add_argument("-o", dest="output", type=Path, default=Path("report.html"), metavar="FILE", help="the page (report.html)")  # fmt: skip
    p.add_argument("--dir", help="the folder of the LAB/LAB.cu files (labs, here or above)")
    p.add_argument("--rubric", help="the folder of the LAB.toml files (data/limits)")
    p.add_argument("--course", help="the course's file, which changes points and thresholds (course.toml)")
    p.add_argument("--device", default="auto", help="auto, sim, sim:NAME or gpu (auto)")
    p.add_argument("--seed", help="seed of the random inputs; the score report of an earlier run shows its seed")
    p.add_argument("--ask", action="store_true", help="add questions about your own code (lab32 ask)")
    p.add_argument("--id", default="", help="your id, for --ask: other students get other questions")
    p.add_argument("--no-history", action="store_true", help="neither record nor show attempts (LAB32_HISTORY=off: always)")  # fmt: skip
    p.add_argument("--from", dest="source", type=Path, metavar="FILE", help="make the page from a result of `lab32 grade --pictures --format json`")  # fmt: skip
    p.add_argument("--binary", default=ROOT / "build/lab32", help=argparse.SUPPRESS)
    return p


def run_lab32_grade(options):
    command = [
        str(options.binary), "grade", *options.labs, "--device", options.device,
        "--format", "json", "--pictures", "--time-limit", "120",
    ]  # fmt: skip
    for name in ("dir", "rubric", "course", "seed"):
        if value := getattr(options, name):
            command += [f"--{name}", value]
    if not options.no_history:
        command.append("--history")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (FULL_MARKS, POINTS_LOST):
        raise UserError("nothing was graded; the line above explains why")
    return done.stdout


def questions_by_lab(options, labs):
    """{lab: the questions about its file, or the reason why there are none}"""
    words = [word for name in ("dir", "rubric", "id") if (value := getattr(options, name)) for word in (f"--{name}", value)]
    found = {}
    for lab in labs if options.ask else ():
        try:
            questions, why_none = fetch_questions_and_reason(lab.name, *words, binary=options.binary)
            found[lab.name] = questions or why_none
        except ValueError as error:
            found[lab.name] = str(error)
    return found


def write_report_page(options):
    try:
        result = load_result(options.source) if options.source else parse_result(run_lab32_grade(options), source="what lab32 grade printed")
    except ValueError as error:
        raise UserError(str(error)) from None
    now = datetime.now().astimezone()
    attempts = [] if options.no_history else history.read_graded_attempts(options.dir or nearest_labs_folder())
    try:
        html = page.report_page(
            result, attempts, now, drawn=options.source is None, questions=questions_by_lab(options, result.labs), student=options.id
        )
    except Exception as error:
        if options.source is None:  # an error of ours
            raise
        raise UserError(f"{printable_line(options.source)}: no page can be drawn of it ({type(error).__name__}: {printable_line(error, 100)})") from None
    try:
        options.output.write_text(html)
    except OSError as error:
        raise UserError(f"-o {options.output}: {error.strerror}") from None
    print(f"{options.output}: {page.score_text(result.score)} / {page.score_text(result.max_score)} points")
    return POINTS_LOST if result.score < result.max_score else FULL_MARKS


def main(arguments=None):
    options = make_parser().parse_args(arguments)
    try:
        return write_report_page(options)
    except UserError as problem:
        print(f"lab32 report: {problem}", file=sys.stderr)
        return NOT_GRADED
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    sys.exit(main())
