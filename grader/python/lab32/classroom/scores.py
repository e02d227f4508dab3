"""Writes OUT/scores.csv and OUT/class.json: a row per student, after the course's rules."""

import json
from dataclasses import dataclass, field
from fractions import Fraction

from lab32.classroom.late import late_deductions_by_lab, points_after_deduction
from lab32.classroom.overrides import overrides_for_student, points_after_override
from lab32.classroom.problem import printable_line
from lab32.classroom.store import NOT_GRADED
from lab32.classroom.table import csv_text

ABSENT = "not handed in"
NOT_READABLE = "not readable"
UNFINISHED = "not graded yet"


@dataclass
class StudentRow:
    """One student's row in the table of the class."""

    student: object  # collect.Student
    slug: str
    person: object = None  # people.RosterPerson of the roster
    status: str = UNFINISHED
    reason: str = ""
    max_score: float = 0
    seconds: float = 0
    raw: dict = field(default_factory=dict)  # lab: points
    final: dict = field(default_factory=dict)  # lab: points that count
    most: dict = field(default_factory=dict)  # lab: the maximum
    weights: dict = field(default_factory=dict)  # lab: its weight in the total
    excused: list = field(default_factory=list)  # labs that do not count
    notes: list = field(default_factory=list)
    failed: str = ""  # a short reason for the progress bar: "does not compile", ...

    def has_points(self):
        return bool(self.raw)

    def total_points(self, points_by_lab):
        """The sum of a field over the labs; None if a lab's points are unknown because its file cannot be read."""
        return self.weighted_points_sum(points_by_lab) if self.has_points() and self.status != NOT_READABLE else None

    def weighted_points_sum(self, points):
        return sum_of_points(Fraction(str(self.weights.get(lab, 1))) * Fraction(str(each)) for lab, each in points.items())

    def all_ids(self):
        return tuple(dict.fromkeys((*self.student.ids, *(self.person.ids if self.person else ()))))

    def primary_id(self):
        if self.person:
            return self.person.id
        return self.student.ids[0][1] if self.student.ids else self.student.key.partition(":")[2]

    def display_name(self):
        return self.person.name if self.person else self.student.name


def rounded_to_hundredths(points):
    """Points rounded down to hundredths, as the grader does. Its own sums are hundredths except for errors of binary
    rounding."""
    rounded = round(float(points), 2)
    return int(rounded) if rounded == int(rounded) else rounded


def sum_of_points(points):
    return rounded_to_hundredths(sum((Fraction(str(each)) for each in points), Fraction(0)))


def fill_row_from_record(row, record, course, overrides):
    """Copies a student's record into the row and applies the course's rules: excused labs, then lateness, then
    overrides."""
    row.weights = {name: lab.weight for name, lab in course.labs.items()}
    row.notes = list(row.student.notes)
    if record is None:
        row.status = UNFINISHED
        return row
    row.status, row.reason, row.seconds = record["status"], record["reason"], record["seconds"]
    if row.status == NOT_GRADED:
        row.failed = row.reason
        return row
    if row.student.unread and not row.reason:
        row.status = NOT_READABLE
        row.notes.append(f"not readable: {row.student.unread}")
    row.excused = [lab["lab"] for lab in record["labs"] if course.is_excused(lab["lab"], row.all_ids())]
    counts = [lab["lab"] for lab in record["labs"] if lab["score"] and lab["lab"] not in row.excused]
    graded = {lab: row.student.files[lab] for lab in counts if lab in row.student.files}
    late = late_deductions_by_lab(course, graded, row.all_ids(), row.person and row.person.submitted)
    own = overrides_for_student(overrides, row.all_ids())
    for lab in record["labs"]:
        name, source = lab["lab"], row.student.files.get(lab["lab"])
        if source is None and row.status == NOT_READABLE:
            continue
        if name in row.excused:
            row.notes.append(f"{name}: excused")
            continue
        per_cent, notes = late.get(name, (Fraction(0), []))
        row.notes += notes
        points = rounded_to_hundredths(lab["score"])
        row.raw[name], row.most[name] = points, rounded_to_hundredths(lab["max_score"])
        row.final[name] = points_after_deduction(points, per_cent) if per_cent else points
        for override in own:
            if override.lab == name:
                row.final[name] = rounded_to_hundredths(points_after_override(override, row.final[name], lab.get("checks", {})))
                row.notes.append(override.describe_override())
        if lab["status"] == "error" and source:
            row.failed = "cannot be compiled or loaded"
        if not points and row.student.files:
            row.notes.append(f"{name}: {lab['why'] if source else ABSENT}" if lab["why"] else f"{name}: no check passed")
    row.max_score = row.weighted_points_sum(row.most)
    if row.reason:
        row.failed = row.reason
    elif row.status == NOT_READABLE:
        row.failed = NOT_READABLE
    elif not row.student.files:
        row.status = ABSENT
    return row


def scores_csv(rows, labs):
    header = ["id", "name", "status", "score", "max_score", "before_late", *labs, "notes", "files"]
    table = [header]
    for row in rows:
        notes = printable_line("; ".join(filter(None, [row.reason, *row.notes])), 2000)
        points = ["", "", ""]
        if row.total_points(row.final) is not None:
            points = [row.total_points(row.final), row.max_score, row.total_points(row.raw)]
        table.append(
            [
                printable_line(row.primary_id()),
                printable_line(row.display_name()),
                row.status,
                *points,
                *(row.final.get(lab, "excused" if lab in row.excused else "") for lab in labs),
                notes,
                row.slug,
            ]
        )
    return csv_text(table)


def class_results_json(rows, labs, leaders=None):
    """What analysis.py needs and results/NAME.json does not have, in the schema lab32-class/1."""
    students = [
        {
            "files": row.slug,
            "status": row.status,
            "seconds": row.seconds,
            "handed_in": sorted(row.student.files),
            "points": row.final,
            "before_late": row.raw,
            "most": row.most,
        }
        for row in rows
    ]
    record = {"schema": "lab32-class/1", "labs": labs, "leaderboard": leaders, "students": students}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
