"""lab32 course check FILE: says what is wrong in the file of a course, or prints the course as a table."""

import argparse
import sys
import tempfile
from pathlib import Path

from lab32 import ROOT
from lab32.classroom.overrides import read_points_overrides
from lab32.classroom.problem import CommandLineParser, UserError
from lab32.course.reader import read_course
from lab32.course.rubrics import adapted_rubric, write_rubrics

HEAD = ("lab", "release", "due", "weight", "points", "checks", "hours")


def parse_options(arguments):
    parser = CommandLineParser(prog="lab32 course", description=__doc__.splitlines()[0].split(": ")[1].capitalize(), allow_abbrev=False)
    parser.add_argument("what", choices=("check", "rubrics"), help="check; `lab32 grade --course` uses `rubrics`")
    parser.add_argument("course", metavar="FILE", type=Path, help="course.toml")
    parser.add_argument("into", metavar="FOLDER", type=Path, nargs="?", help="of `rubrics`: the folder to write them into")
    parser.add_argument("--rubric", default="", help="the folder of the LAB.toml files that the course changes (data/limits)")
    parser.add_argument("--binary", default=str(ROOT / "build/lab32"), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def time_text(when):
    return when.isoformat(sep=" ", timespec="minutes") if when else "-"


def course_table_row(course, lab):
    rubric = adapted_rubric(course, lab)
    rows = [row for table in lab.rubric_rows_by_name() if (row := rubric[table]).get("credit") != "questions" or row["points"]]
    kept = sum(bool(row.get("points", row.get("bonus"))) for row in rows)
    checks = f"{kept}" if kept == len(rows) else f"{kept} of {len(rows)}"
    checks += f", {len(lab.hidden)} after due" if lab.hidden else ""
    return [lab.name, time_text(lab.release), time_text(lab.due), f"{lab.weight:g}", f"{rubric['max_score']:g}", checks,
            f"{rubric['hours']:g}" if "hours" in rubric else "-"]  # fmt: skip


def count_text(number, noun):
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def course_rule_lines(course, overrides):
    late = course.late
    lines = [f"late: {late.per_cent_per_day:g} % a day begun, {count_text(late.grace_minutes, 'minute')} of grace, at most "
             f"{late.cap_per_cent:g} %; {count_text(late.slip_days, 'slip day')} a student",
             f"attempt that counts: {course.attempt}"]  # fmt: skip
    for what, several in (("extensions", course.extensions), ("excused", course.excused)):
        if several:
            lines.append(f"{what}: {', '.join(several)}")
    if course.overrides:
        lines.append(f"overrides: {count_text(sum(map(len, overrides.values())), 'row')} of {course.overrides.name}")
    return lines


def course_table_text(course, overrides):
    rows = [course_table_row(course, lab) for lab in course.labs.values()]
    total = [*["all"], "", "", "", f"{sum(float(row[3]) * float(row[4]) for row in rows):g}", "",
             f"{sum(float(row[6]) for row in rows if row[6] != '-'):g}"]  # fmt: skip
    widths = [max(len(row[k]) for row in [HEAD, *rows, total]) for k in range(len(HEAD))]
    aligned = [
        "  ".join(cell.rjust(width) if k in (3, 4, 6) else cell.ljust(width)
                  for k, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in [HEAD, *rows, total]
    ]  # fmt: skip
    return "\n".join([*aligned, "", *course_rule_lines(course, overrides)])


def main(arguments=None):
    try:
        options = parse_options(arguments)
        course = read_course(options.course, options.rubric)
        overrides = read_points_overrides(course)
        if options.what == "rubrics" and not options.into:
            raise UserError("course rubrics: name the folder to write them into")
        with tempfile.TemporaryDirectory() as scratch:
            write_rubrics(course, options.into or scratch, options.binary)
        print(course_table_text(course, overrides) if options.what == "check" else "\n".join(course.labs))
    except UserError as problem:
        print(f"lab32: {problem}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"lab32: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
