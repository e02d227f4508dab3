"""Reads overrides.csv, in which an instructor sets points: of a lab of a student, or of one of its checks.

Overrides are applied after everything else, anew in each run, and the student's page mentions them. No command writes
the file."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from lab32.classroom.late import count_text
from lab32.classroom.people import comparable_id
from lab32.classroom.problem import UserError, printable_line
from lab32.classroom.table import EditableCsvFile
from lab32.inputs import is_number

COLUMNS = ("id", "lab", "check", "points", "reason")


@dataclass(frozen=True)
class PointsOverride:
    lab: str
    check: str  # its name; empty: the whole lab
    points: Fraction
    reason: str

    def describe_override(self):
        what = f"{self.lab}, {self.check}" if self.check else self.lab
        return f"{what}: {count_text(self.points, 'point')}, set by the instructor: {self.reason}"


def read_points_overrides(course):
    """{an id as people.comparable_id() writes it: its Overrides}; {} if the course names no such file."""
    found = defaultdict(list)
    if not course.overrides:
        return found
    table = EditableCsvFile.read(course.overrides)
    columns = [table.find_column(name) for name in COLUMNS]
    if None in columns:
        raise UserError(f"{table.name}:{table.header.line}: the columns are {', '.join(COLUMNS)}; its columns are {table.column_names_text()}")
    for row in table.rows:
        who, lab, check, points, reason = (row[column] for column in columns)

        def fail(message, row=row):
            raise UserError(f"{table.name}:{row.line}: {message}")

        if not who or not reason:
            fail("each row has an id, and a reason that the student reads")
        if lab not in course.labs:
            fail(f"the course has no lab `{printable_line(lab, 40)}`; its labs are {', '.join(course.labs)}")
        rows = course.labs[lab].rubric_rows_by_name()
        checks = {row["check"] for row in rows.values()}
        check = rows[check]["check"] if check in rows else check
        if check and check not in checks:
            fail(f"{lab} has no check `{printable_line(check, 60)}`; its checks are {', '.join(rows)}")
        try:
            number = float(points)
        except ValueError:
            number = None
        if number is None or not is_number(number, 0, 1e6):
            fail(f"`{printable_line(points, 20)}` is no number of points")
        found[comparable_id(who)].append(PointsOverride(lab, check, Fraction(points), printable_line(reason)))
    return found


def overrides_for_student(overrides, ids):
    return [each for value in dict.fromkeys(comparable_id(value) for _, value in ids) for each in overrides.get(value, ())]


def points_after_override(override, points, checks):
    """The points of a lab after an override. `checks` are {check: its points before the override}."""
    if not override.check:
        return override.points
    return max(Fraction(0), Fraction(str(points)) + override.points - Fraction(str(checks.get(override.check, 0))))
