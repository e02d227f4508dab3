"""Computes what a late submission loses. The policy is a TOML file of a few lines:

due = 2026-11-23T23:59:00+01:00     # or a table [due] with a time for each lab
grace_minutes = 15                  # lateness that costs nothing
per_cent_per_day = 10               # for each day begun after `due`
cap_per_cent = 50                   # at most
marked_late_days = 1                # days late of a file that the platform marks LATE without a time
use_file_times = false              # use files' modification times where the export has none
"""

import math
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from lab32.classroom.problem import Problem, visible
from lab32.inputs import is_number, read_toml

NUMBERS = {"grace_minutes": 0, "per_cent_per_day": None, "cap_per_cent": 100, "marked_late_days": 1}


@dataclass(frozen=True)
class Policy:
    due: dict  # by lab; "" for all others
    grace_minutes: float
    per_cent_per_day: float
    cap_per_cent: float
    marked_late_days: float = 1
    use_file_times: bool = False

    def due_of(self, lab):
        return self.due.get(lab, self.due.get(""))

    def per_cent(self, lab, when):
        """The percentage of the points that a submission at this time loses."""
        due = self.due_of(lab)
        if due is None or when is None:
            return Fraction(0)
        late = Fraction((when - due).total_seconds())
        return Fraction(0) if late <= Fraction(self.grace_minutes) * 60 else self.for_days(math.ceil(late / 86400))

    def for_days(self, days):
        return min(Fraction(self.cap_per_cent), Fraction(self.per_cent_per_day) * Fraction(days))

    def applied(self, lab, source, when):
        """(per cent, a note). `when`, a time from the roster, takes precedence over the platform's."""
        when = when or source.time or (source.file_time if self.use_file_times else None)
        if when is None and source.late and self.due_of(lab) is not None:
            days = f"{self.marked_late_days:g} day{'' if self.marked_late_days == 1 else 's'}"
            said = f"{lab}: LATE according to the platform, which gives no time: counted as {days}"
            return self.for_days(self.marked_late_days), said
        if when is None:
            return Fraction(0), f"{lab}: submission time unknown: nothing taken"
        return self.per_cent(lab, when), ""


def points_after_deduction(points, per_cent):
    """Points less the percentage, rounded down to hundredths like the grader's own points."""
    left = Fraction(str(points)) * (100 - per_cent) / 100
    return math.floor(left * 100) / 100


def read_policy(path, labs):
    record, lines = read_toml(path)

    def place(key):
        return f"{visible(path)}{f':{lines[key]}' if key in lines else ''}"

    known = {"due", "use_file_times", *NUMBERS}
    for key in record:
        if key not in known:
            raise Problem(
                f"{place(key)}: there is no key `{visible(key, 40)}`; the keys are {', '.join(sorted(known))}"
            )
    values = {}
    for key, otherwise in NUMBERS.items():
        value = record.get(key, otherwise)
        if not is_number(value, 0, 1e6):
            raise Problem(f"{place(key)}: {key} must be a number of at least 0, such as {key} = 10")
        values[key] = value
    if values["cap_per_cent"] > 100:
        raise Problem(f"{place('cap_per_cent')}: cap_per_cent must be at most 100")
    if type(record.get("use_file_times", False)) is not bool:
        raise Problem(f"{place('use_file_times')}: use_file_times must be true or false")
    due = record.get("due")
    due = due if isinstance(due, dict) else {"": due}
    for lab, when in due.items():
        if lab and lab not in labs:
            raise Problem(
                f"{place(lab)}: [due] names `{visible(lab, 40)}`, which is not graded; the graded labs are {', '.join(labs)}"
            )
        if not isinstance(when, datetime) or when.tzinfo is None:
            raise Problem(
                f"{place(lab or 'due')}: due must be a time with its zone, such as due = 2026-11-23T23:59:00+01:00"
            )
    return Policy(due, **values, use_file_times=record.get("use_file_times", False))
