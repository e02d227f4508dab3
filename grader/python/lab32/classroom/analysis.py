"""Summarises a class's results: for report.ipynb, and for an instructor's own questions in Python.

>>> graded = analysis.ClassResults("graded")
>>> graded.statistics_of_checks("shuffle")
"""

import base64
import io
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import mean, median

from matplotlib.figure import Figure

from lab32 import results
from lab32.classroom.problem import printable_line
from lab32.classroom.scores import ABSENT, NOT_READABLE
from lab32.classroom.store import GRADED, NOT_GRADED, REFUSED
from lab32.pictures.canvas import INK, SKY
from lab32.text_format import format_numbers

SCHEMA = "lab32-class/1"
NUMBER = ' class="number"'
# The message of a check that was not judged because the check that it depends on has failed.
WAITS = re.compile(r"This check counts once ")
PLACE = re.compile(r"\S.*:\d+$")


@dataclass
class CheckStatistics:
    """What all students who handed in a lab have reached in one check of it."""

    lab: str
    name: str
    most: float
    points: list
    seconds: list
    messages: list  # one for each student who lost points and whose file could be loaded

    def mean_share_of_points(self):
        return mean(self.points) / self.most

    def mean_points_lost(self):
        return self.most - mean(self.points)

    def count_with_full_points(self):
        return sum(points == self.most for points in self.points)

    def count_without_points(self):
        return sum(points == 0 for points in self.points)

    def most_common_message_and_count(self):
        """(the message that most students got, how many got it). Messages that differ only in numbers count as one."""
        alike = defaultdict(list)
        for message in self.messages:
            if said := first_explaining_line(message):
                alike[re.sub(r"\d[\d,.]*", "#", said)].append(said)
        if not alike:
            return "", 0
        most = max(alike.values(), key=len)
        return Counter(most).most_common(1)[0][0], len(most)


def first_explaining_line(message):
    """The first line of a message that explains something, rather than a place in a file or a quoted line of it."""
    lines = message.splitlines()
    if lines and PLACE.fullmatch(lines[0]):
        lines = lines[1:]
        while lines and lines[0].startswith("    "):
            lines = lines[1:]
    return "" if not lines or WAITS.match(lines[0]) else printable_line(lines[0], 160)


class ClassResults:
    def __init__(self, out):
        out = Path(out)
        record = json.loads((out / "class.json").read_text())
        if record.get("schema") != SCHEMA:
            raise ValueError(
                f"{out}/class.json has schema {record.get('schema')}, this reads {SCHEMA}"
            )
        self.labs, self.leaders = record["labs"], record["leaderboard"]
        self.students = record["students"]
        self.results = {
            student["files"]: results.load_result(out / "results" / f"{student['files']}.json")
            for student in self.students
            if student["status"] == GRADED
        }

    def student_counts_by_status(self):
        """{status: number of students}, in a fixed order of the statuses."""
        found = Counter(student["status"] for student in self.students)
        order = [GRADED, ABSENT, NOT_READABLE, REFUSED, NOT_GRADED]
        return {
            status: found[status]
            for status in (*order, *sorted(set(found) - {*order}))
            if found[status]
        }

    def students_with_points_in(self, lab):
        return [
            student
            for student in self.students
            if lab in student["handed_in"] and lab in student["points"]
        ]

    def list_of_points_in_lab(self, lab):
        """The points that count, after the course's rules: one number for each student who handed in the lab."""
        return [student["points"][lab] for student in self.students_with_points_in(lab)]

    def max_points_of_lab(self, lab):
        return max((student["most"][lab] for student in self.students_with_points_in(lab)), default=0)

    def count_uncompilable_submissions(self, lab):
        """How many students handed in a file that cannot be compiled or loaded."""
        there = (self.results.get(student["files"]) for student in self.students_with_points_in(lab))
        return sum(result.lab(lab).status == "error" for result in there if result)

    def late_count_and_points_lost(self, lab):
        """(the number of late submissions, the points that they lost for being late)"""
        taken = [each["before_late"][lab] - each["points"][lab] for each in self.students_with_points_in(lab)]
        return sum(points > 0 for points in taken), sum(taken)

    def grading_seconds_of_students(self):
        return [student["seconds"] for student in self.students if student["seconds"]]

    def statistics_of_checks(self, *labs):
        """[CheckStatistics] in the rubric's order, without checks that ran for no student."""
        found = {}
        for lab in labs or self.labs:
            for student in self.students_with_points_in(lab):
                result = self.results.get(student["files"])
                for test in result.lab(lab).tests if result else ():
                    if test.status == "not run" or not test.max_score:
                        continue
                    check = found.setdefault(
                        (lab, test.name), CheckStatistics(lab, test.name, test.max_score, [], [], [])
                    )
                    check.points.append(test.score)
                    check.seconds.append(test.seconds)
                    if test.score < test.max_score and result.lab(lab).status != "error":
                        check.messages.append(test.message)
        return list(found.values())

    def question_answers(self, lab):
        """[(student, the test with the student's answers to questions about the code, whether the other checks passed)]"""
        found = []
        for student in self.students_with_points_in(lab):
            result = self.results.get(student["files"])
            tests = result.lab(lab).tests if result else []
            for test in tests:
                if "asked" in test.figures:
                    others = [other for other in tests if other is not test and other.status != "not run"]
                    found.append((student, test, all(other.status == "passed" for other in others)))
        return found

    def checks_costing_most_points(self, count=10):
        """[CheckStatistics] that cost the class the most points, the most expensive first."""
        lost = [check for check in self.statistics_of_checks() if check.mean_points_lost() > 0]
        return sorted(lost, key=lambda check: -check.mean_points_lost())[:count]


# ---- how it is shown -------------------------------------------------------------------------------


def rounded_number_html(value):
    """The value, rounded to hundredths as points are, as HTML."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def two_decimals_text(value):
    """Always two decimals: 0.70, 12.34."""
    return f"{value:,.2f}"


def duration_text(value):
    return f"{rounded_number_html(value / 60)} minutes" if value >= 120 else f"{rounded_number_html(value)} s"


def per_cent_text(share):
    return f"{100 * share:.0f} %"


class RawHtml:
    """HTML that a notebook shows as it is, unlike plain text."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        return self.text


class NumberHtml(RawHtml):
    """A formatted number, aligned to the right of its column."""


def html_with_code(text):
    """Marks text between backticks as code."""
    parts = escape(text).split("`")
    parts[1::2] = (f"<code>{part}</code>" for part in parts[1::2])
    return RawHtml("".join(parts) if len(parts) % 2 else escape(text))


def joined_html(parts):
    return RawHtml("\n".join(part.text for part in parts))


def cell_html(value):
    if isinstance(value, RawHtml):
        return f"<td{NUMBER if isinstance(value, NumberHtml) else ''}>{value.text}</td>"
    if isinstance(value, (int, float)):
        return f'<td class="number">{rounded_number_html(value)}</td>'
    return f"<td>{escape(printable_line(value, 400))}</td>"


def html_table(header, rows):
    """Plain text is escaped, since students wrote some of it; RawHtml is not."""
    kinds = [isinstance(each, (int, float, NumberHtml)) for each in rows[0]] if rows else [False] * len(header)
    head = "".join(
        f"<th{NUMBER if kind else ''}>{escape(name)}</th>"
        for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(cell_html, row))}</tr>\n" for row in rows)
    return RawHtml(f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>")


def bar_html(share):
    """HTML for a share between 0 and 1: a bar, and the share as a number."""
    width = min(100, max(0, 100 * share))
    return RawHtml(
        f'<div class="bar"><i style="width:{width:.1f}%"></i><b>{per_cent_text(share)}</b></div>'
    )


def labs_overview_html(graded):
    rows = []
    for lab in graded.labs:
        points = graded.list_of_points_in_lab(lab)
        if not points:
            rows.append([lab, 0, "", "", "", "", "", "", ""])
            continue
        late, taken = graded.late_count_and_points_lost(lab)
        rows.append(
            [
                lab, len(points), graded.max_points_of_lab(lab), mean(points), median(points), min(points),
                sum(each == graded.max_points_of_lab(lab) for each in points), graded.count_uncompilable_submissions(lab),
                f"{late}, {rounded_number_html(taken)} points taken" if late else "",
            ]
        )  # fmt: skip
    return html_table(
        [
            "lab",
            "handed in",
            "points",
            "mean",
            "median",
            "least",
            "full marks",
            "not compiled",
            "late",
        ],
        rows,
    )


def students_histogram_html(values, most, unit, bins=20):
    """HTML with a histogram of `values` from 0 to `most`, one value per student, and their median."""
    figure = Figure(figsize=(8, 2))
    axes = figure.add_subplot()
    edges = [most * i / bins for i in range(bins + 1)]
    axes.hist(values, bins=edges, color=SKY, edgecolor="white")
    axes.axvline(median(values), color=INK, linestyle="--", linewidth=1.5)
    axes.set_xlim(0, most)
    axes.set_xlabel(f"{unit} (dashed: the median)")
    axes.set_ylabel("students")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg")
    said = f"{len(values)} students by {unit}; the median is {rounded_number_html(median(values))}"
    data = base64.b64encode(drawn.getvalue()).decode()
    return RawHtml(f'<p><img alt="{escape(said)}" src="data:image/svg+xml;base64,{data}"></p>')


def points_distributions_html(graded):
    """HTML with the distribution of each lab's points, and a table of what each check gives."""
    parts = []
    for lab in graded.labs:
        if not (points := graded.list_of_points_in_lab(lab)):
            continue
        parts.append(RawHtml(f"<h3>{escape(lab)}</h3>"))
        parts.append(students_histogram_html(points, graded.max_points_of_lab(lab), f"points of {rounded_number_html(graded.max_points_of_lab(lab))}"))
        if checks := graded.statistics_of_checks(lab):
            rows = [[c.name, c.most, bar_html(c.mean_share_of_points()), c.count_with_full_points(), c.count_without_points()] for c in checks]
            parts.append(html_table(["check", "points", "reached", "full", "none"], rows))
    return joined_html(parts)


def checks_costing_most_points_html(graded):
    rows = []
    for check in graded.checks_costing_most_points():
        said, times = check.most_common_message_and_count()
        rows.append(
            [
                check.lab,
                check.name,
                check.mean_points_lost(),
                len(check.points) - check.count_with_full_points(),
                html_with_code(format_numbers(said)) if said else "no message of its own: the check depends on another one",
                times or "",
            ]
        )
    if not rows:
        return RawHtml("<p>No points were lost.</p>")
    return html_table(
        ["lab", "check", "points lost on average", "students", "most frequent message", "got it"],
        rows,
    )


def student_id_in_answers(test):
    """The student's id in answers.toml, which asking/answers.cpp writes behind the measured value; "": there is none."""
    return test.measured.partition(", id ")[2]


def class_answers_summary_html(graded):
    """Answers to `lab32 ask`: the right ones of each kind, and whose code passes while the answers are wrong."""
    rows, talks = [], []
    for lab in graded.labs:
        asked, right = Counter(), Counter()
        answers = graded.question_answers(lab)
        ids = Counter(student_id_in_answers(test) for _, test, _ in answers)
        for student, test, passes in answers:
            for name, count in test.figures.items():
                kind, _, what = name.rpartition(" ")
                if kind:
                    (asked if what == "asked" else right)[kind] += count
            shared = student_id_in_answers(test) and ids[student_id_in_answers(test)] > 1
            if passes and (shared or test.figures["right"] < max(test.figures["asked"], 1)):
                talks.append([lab, student["files"], test.measured + " (several students have this id)" * bool(shared)])
        rows += [[lab, kind, len(answers), bar_html(right[kind] / asked[kind])] for kind in sorted(asked)]
    if not rows:
        return RawHtml("<p>There are no answers to questions about the code.</p>")
    parts = [html_table(["lab", "kind of question", "students", "right"], rows)]
    if talks:
        parts.append(RawHtml("<p>Their code passes, and their answers do not: a reason to talk, no verdict.</p>"))
        parts.append(html_table(["lab", "student", "answers"], talks))
    return joined_html(parts)


def grading_times_html(graded):
    spent = graded.grading_seconds_of_students()
    if not spent:
        return RawHtml("<p>Nothing was graded.</p>")
    most = math.ceil(max(spent) * 1.02)
    slow = sorted(graded.statistics_of_checks(), key=lambda check: -mean(check.seconds))[:5]
    said = (
        f"{duration_text(sum(spent))} for {len(spent)} students, one thread each; the median is "
        f"{two_decimals_text(median(spent))} s, the longest {two_decimals_text(max(spent))} s."
    )
    parts = [students_histogram_html(spent, most, "seconds that the grading took"), RawHtml(f"<p>{said}</p>")]
    if slow:
        rows = [[c.lab, c.name, *(NumberHtml(two_decimals_text(of(c.seconds))) for of in (mean, max))] for c in slow]
        parts.append(html_table(["lab", "the slowest checks", "seconds on average", "at most"], rows))
    return joined_html(parts)


def top_scores_html(graded):
    if graded.leaders is None:
        return RawHtml("")
    rows = [[each["rank"], each["pseudonym"], each["score"]] for each in graded.leaders]
    return joined_html([RawHtml("<h2>Leader board</h2>"), html_table(["", "who", "points"], rows)])
