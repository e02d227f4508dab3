"""Computes what late submissions lose, by the [late] of a course: first slip days are used, then a percentage is taken."""

import math
from fractions import Fraction


def points_after_deduction(points, per_cent):
    """Points less the percentage, rounded down to hundredths like the grader's own points."""
    left = Fraction(str(points)) * (100 - per_cent) / 100
    return math.floor(left * 100) / 100


def submission_time(course, source, when=None):
    """The time at which a file was submitted. A time in the roster, `when`, takes precedence over the platform's."""
    return when or source.time or (source.file_time if course.late.use_file_times else None)


def days_late_and_note(course, lab, source, ids=(), when=None):
    """(number of days that have begun since the deadline, a note). A file of unknown time is not late."""
    due, time = course.due_time(lab, ids), submission_time(course, source, when)
    if due is None:
        return Fraction(0), ""
    if time is None and source.late:
        days = count_text(course.late.marked_late_days, "day")
        return Fraction(course.late.marked_late_days), f"{lab}: LATE according to the platform, which gives no time: counted as {days}"
    if time is None:
        return Fraction(0), f"{lab}: submission time unknown: nothing taken"
    late = Fraction((time - due).total_seconds())
    return Fraction(0 if late <= Fraction(course.late.grace_minutes) * 60 else math.ceil(late / 86400)), ""


def deduction_per_cent(course, days):
    """The percentage of the points that is lost for late days beyond the slip days."""
    return min(Fraction(course.late.cap_per_cent), Fraction(course.late.per_cent_per_day) * days)


def late_deductions_by_lab(course, files, ids=(), when=None):
    """{lab: (per cent, notes)} of a student's {lab: SubmittedFile}. Slip days go to the labs in the order of their deadlines."""
    found, left = {}, Fraction(course.late.slip_days)
    for lab in sorted(files, key=lambda lab: course.labs[lab].due.timestamp() if course.labs[lab].due else 0):
        days, note = days_late_and_note(course, lab, files[lab], ids, when)
        slipped = min(days, left) if deduction_per_cent(course, days) else Fraction(0)
        left -= slipped
        taken = deduction_per_cent(course, days - slipped)
        notes = [note] if note else []
        if slipped:
            notes.append(f"{lab}: late, {count_text(slipped, 'slip day')} used, {float(left):g} left")
        if taken:
            notes.append(f"{lab}: late, {float(taken):g} % taken")
        found[lab] = taken, notes
    return found


def count_text(number, noun):
    return f"{float(number):g} {noun}{'' if number == 1 else 's'}"
