"""Reads course.toml, which adapts the labs to a course. lab32/classroom/README.md shows each key.

Every error is a UserError, one line with the file and the line of the key."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from lab32 import labs
from lab32.classroom.people import comparable_id
from lab32.classroom.problem import UserError, printable_line
from lab32.inputs import is_number, read_toml_with_lines

ATTEMPTS = ("last", "best_before_due", "best")
VISIBLE = ("always", "after_due")
TIME = "a time with its zone, such as 2026-11-23T23:59:00+01:00"
# Keys of a rubric's row that are not thresholds.
FIXED = {"check", "points", "bonus", "credit", "after", "hides", "reason", "questions", "kernel", "hidden_until"}


@dataclass(frozen=True)
class LatePolicy:
    grace_minutes: float = 0  # lateness that costs nothing
    per_cent_per_day: float = 0  # of the points, for each day that has begun since `due`
    cap_per_cent: float = 100
    slip_days: float = 0  # late days that cost nothing, for all labs of a student together
    marked_late_days: float = 1  # late days of a file that the platform marks LATE without a time
    use_file_times: bool = False  # take the times of files if the export has none of submissions


@dataclass(frozen=True)
class CourseLab:
    name: str
    rubric: dict
    rubric_path: Path
    due: datetime | None = None
    release: datetime | None = None
    weight: float = 1
    max_score: float | None = None  # None: that of the rubric
    changes: dict = field(default_factory=dict)  # {table: {key: value}}
    hidden: frozenset = frozenset()  # tables of the rubric, for checks that are shown only after the deadline

    def rubric_rows_by_name(self):
        return {name: row for name, row in self.rubric.items() if isinstance(row, dict) and "check" in row}


@dataclass(frozen=True)
class Course:
    name: str = ""  # of the file
    labs: dict = field(default_factory=dict)
    late: LatePolicy = LatePolicy()
    attempt: str = "last"
    extensions: dict = field(default_factory=dict)  # {id: {lab, or "" for all: new deadline or days}}
    excused: dict = field(default_factory=dict)  # {id: labs}
    overrides: Path | None = None
    lines: dict = field(default_factory=dict)  # of the file

    def place_of_key(self, *path):
        """The place FILE:LINE of a key, or of the table around it, for messages."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines[path]}" if path else self.name

    def due_time(self, lab, ids=()):
        """The deadline of the student with these (kind, id); None: there is none."""
        due = self.labs[lab].due if lab in self.labs else None
        for _, value in ids:
            extension = self.extensions.get(comparable_id(value), {})
            if lab in extension:
                return extension[lab]
            if "" in extension and due:
                return due + extension[""]
        return due

    def latest_due_time(self, lab):
        """The time after which no student can submit any more: the latest deadline, with all extensions."""
        dues = [self.due_time(lab), *(self.due_time(lab, [("", who)]) for who in self.extensions)]
        return max(dues) if all(dues) else None

    def is_excused(self, lab, ids):
        return any(lab in self.excused.get(comparable_id(value), ()) for _, value in ids)

    def released_labs(self, now):
        return [lab.name for lab in self.labs.values() if lab.release is None or lab.release <= now]


class TomlSection:
    """A table of the file: take_key() reads a key, and refuse_other_keys() refuses those that were not taken."""

    def __init__(self, course, path, table):
        self.course, self.path, self.known = course, path, []
        if not isinstance(table, dict):
            self.fail((), f"[{'.'.join(path)}] is a table")
        self.left = dict(table)

    def fail(self, keys, message):
        raise UserError(f"{self.course.place_of_key(*self.path, *keys)}: {message}")

    def take_key(self, key, otherwise, is_valid, form):
        self.known.append(key)
        if key not in self.left:
            return otherwise
        value = self.left.pop(key)
        if not is_valid(value):
            self.fail((key,), f"{key} must be {form}")
        return value

    def take_number(self, key, otherwise, least=0, most=1e6):
        limit = f"a number of at least {least:g}" + (f" and at most {most:g}" if most < 1e6 else "")
        return self.take_key(key, otherwise, lambda value: is_number(value, least, most), limit)

    def take_time(self, key):
        return self.take_key(key, None, is_time_with_zone, TIME)

    def take_choice(self, key, several):
        form = " or ".join(f'"{one}"' for one in several)
        return self.take_key(key, several[0], lambda value: value in several, form)

    def take_table(self, key, otherwise=None):
        return self.take_key(key, otherwise, lambda value: isinstance(value, dict), "a table")

    def refuse_other_keys(self):
        for key in self.left:
            self.fail((key,), f"there is no key `{printable_line(key, 40)}` here; the keys are {', '.join(sorted(self.known))}")


def is_time_with_zone(value):
    return isinstance(value, datetime) and value.tzinfo is not None and 1970 < value.year < 3000


def read_course(path, rubrics_dir=""):
    """The Course of a file; `rubrics_dir` is the folder of the rubrics that it changes, if these are not the project's."""
    record, lines = read_toml_with_lines(path)
    course = Course(printable_line(path), lines=lines)
    files = labs.rubric_path_by_lab(rubrics_dir)
    top = TomlSection(course, (), record)
    top.take_key("language", "en", lambda value: value == "en", '"en": the messages have no other language')
    attempt, due = top.take_choice("attempt", ATTEMPTS), top.take_time("due")
    most = top.take_number("max_score", None, 1)
    overrides = top.take_key("overrides", None, lambda value: isinstance(value, str) and value, "the name of a CSV file")
    late = TomlSection(course, ("late",), top.take_table("late", {}))
    late_policy = LatePolicy(
        late.take_number("grace_minutes", 0), late.take_number("per_cent_per_day", 0), late.take_number("cap_per_cent", 100, 0, 100),
        late.take_number("slip_days", 0), late.take_number("marked_late_days", 1),
        late.take_key("use_file_times", False, lambda value: type(value) is bool, "true or false"),
    )  # fmt: skip
    late.refuse_other_keys()
    chosen = top.take_table("labs")
    listed = TomlSection(course, ("labs",), dict.fromkeys(files, {}) if chosen is None else chosen)
    if not listed.left:
        listed.fail((), "[labs] names no lab")
    of_course = {name: read_course_lab(course, listed.left[name], name, files, (due, most)) for name in listed.left}
    extensions, excused = top.take_table("extensions", {}), top.take_table("excused", {})
    top.refuse_other_keys()
    return Course(
        course.name, dict(sorted(of_course.items(), key=due_date_order_key)), late_policy, attempt,
        {comparable_id(who): read_deadline_extension(course, who, given, of_course) for who, given in extensions.items()},
        {comparable_id(who): read_excused_labs(course, who, given, of_course) for who, given in excused.items()},
        Path(path).parent / overrides if overrides else None, lines,
    )  # fmt: skip


TOP_KEYS = ("language", "attempt", "due", "max_score", "overrides", "late", "labs", "extensions", "excused")
LAB_KEYS = ("due", "release", "weight", "max_score", "checks")


def due_date_order_key(entry):
    name, lab = entry
    return (lab.due is None, lab.due.timestamp() if lab.due else 0, lab.rubric.get("order", 1000), name)


def read_course_lab(course, table, name, files, defaults):
    section = TomlSection(course, ("labs", name), table)
    if name not in files:
        section.fail((), f"there is no lab `{printable_line(name, 40)}`; the labs are: {', '.join(sorted(files))}")
    due, release = section.take_time("due") or defaults[0], section.take_time("release")
    if due and release and release >= due:
        section.fail(("release",), "release must be before due")
    weight, most = section.take_number("weight", 1), section.take_number("max_score", defaults[1], 1)
    checks = section.take_table("checks", {})
    section.refuse_other_keys()
    rubric = read_rubric(files[name])
    lab = CourseLab(name, rubric, files[name], due, release, weight, most)
    for key, changes in checks.items():
        validate_check_changes(course, lab, key, changes)
    hidden = frozenset(key for key, changes in checks.items() if changes.get("visible") == "after_due")
    changed = {key: {k: v for k, v in each.items() if k != "visible"} for key, each in checks.items()}
    return CourseLab(name, rubric, files[name], due, release, weight, most, changed, hidden)


def read_rubric(path):
    rubric, lines = read_toml_with_lines(path)
    rows = {name: row for name, row in rubric.items() if isinstance(row, dict) and "check" in row}
    numbers = {("max_score",): rubric.get("max_score")}
    numbers |= {(name, key): row.get(key) for name, row in rows.items() for key in ("points", "bonus") if key in row}
    for key, value in numbers.items():
        if not is_number(value, 0, 1e6):
            raise UserError(f"{printable_line(path)}:{lines.get(key, 1)}: `{key[-1]}` is a number of points")
    return rubric


def validate_check_changes(course, lab, table, changes):
    """Checks what the course changes in one row of a rubric: its points, the time when it is visible, and its
    thresholds, whose new values must have the types of the old ones."""
    section = TomlSection(course, ("labs", lab.name, "checks", table), changes)
    row = lab.rubric_rows_by_name().get(table)
    if row is None:
        section.fail((), f"{lab.rubric_path.name} has no check [{printable_line(table, 40)}]; its checks are {', '.join(lab.rubric_rows_by_name())}")
    section.take_number("points", None)
    if section.take_choice("visible", VISIBLE) == "after_due" and not lab.due:
        section.fail(("visible",), f'visible = "after_due" needs the time `due` of {lab.name}')
    for key, value in list(section.left.items()):
        now = row.get(key, lab.rubric.get(key))
        if key in FIXED or now is None or isinstance(now, dict):
            near = [name for name in row if name not in FIXED and not isinstance(row[name], dict)]
            section.fail((key,), f"[{table}] has no threshold `{printable_line(key, 40)}`; it has points, visible"
                         + "".join(f", {name}" for name in near))  # fmt: skip
        if not same_type(value, now):
            section.fail((key,), f"{key} must be {expected_type_text(now)}, as in {lab.rubric_path.name}: {printable_line(now, 60)}")


def same_type(value, now):
    return is_number(value) if is_number(now) else type(value) is type(now)


def expected_type_text(value):
    return "a number" if is_number(value) else {str: "a text", bool: "true or false", list: "a list"}.get(type(value), "as it is")


def read_deadline_extension(course, who, given, of_course):
    section = TomlSection(course, ("extensions", who), given)
    extension = {lab: when for lab in of_course if (when := section.take_time(lab))}
    days = section.take_number("days", None, 0, 366)
    section.refuse_other_keys()
    if days is not None:
        extension[""] = timedelta(days=days)
    if not extension:
        section.fail((), f"[extensions.{printable_line(who, 40)}] has neither `days` nor a lab with its new time")
    return extension


def read_excused_labs(course, who, given, of_course):
    if not isinstance(given, list) or not given or not all(isinstance(lab, str) and lab in of_course for lab in given):
        raise UserError(f"{course.place_of_key('excused', who)}: {printable_line(who, 40)} must be a list of labs of the course: "
                      f"[{', '.join(repr(lab) for lab in of_course)}]".replace("'", '"'))  # fmt: skip
    return tuple(given)


def default_course(rubric=""):
    """The Course without a file, which changes nothing. The rubrics are not read for it."""
    return Course(labs={name: CourseLab(name, {}, path) for name, path in labs.rubric_path_by_lab(rubric).items()})
