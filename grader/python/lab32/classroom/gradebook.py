"""Fills in the gradebook that Canvas or Moodle exported. It changes only existing cells of existing
students; every other byte of the file stays as it was."""

import re
from fractions import Fraction

from lab32.classroom.late import points_after_deduction
from lab32.classroom.names import lab_spelling_regex
from lab32.classroom.people import ID_COLUMNS, RecordsByStudentId, id_columns
from lab32.classroom.problem import UserError, printable_line
from lab32.classroom.scores import ABSENT
from lab32.classroom.table import EditableCsvFile

TOTAL = "total"
# Canvas computes these columns itself, also for an assignment group that has a lab's name.
COMPUTED = re.compile(
    r"(?i)(current|final|unposted .*) (score|points|grade)( \(.*\))?$|^(override|notes)\b"
)
# Columns about the student, which never hold points.
KEPT = {"student", "name", "full name", "first name", "last name", "firstname", "lastname", "surname", "section", "status"}
# Columns of Moodle that stand beside the column with the points.
BESIDE = re.compile(r"(?i)^feedback\b|\((feedback|percentage|letter)\)$")
# What Canvas writes in place of points if the student is excused, or was not assigned this work.
TAKEN = ("ex", "n/a")
POINTS_POSSIBLE = re.compile(r"(?i)points possible")


def parse_column_options(texts, labs):
    """{lab or total: header} from the options --column LAB=HEADER."""
    found = {}
    for text in texts:
        lab, equals, header = text.partition("=")
        if not equals or lab not in (*labs, TOTAL) or not header:
            raise UserError(
                f"--column {printable_line(text, 60)}: write LAB=HEADER, with LAB one of {', '.join((*labs, TOTAL))}"
            )
        if header in found.values():
            raise UserError(f"--column: `{printable_line(header, 60)}` is named twice")
        found[lab] = header
    return found


class Gradebook:
    def __init__(self, table, labs, asked=None):
        self.table, self.labs = table, labs
        mine = [name.casefold() for name in table.column_names()]
        self.is_canvas = "id" in mine and (
            "student" in mine or {"lastname", "firstname"} <= {*mine}
        )
        kinds = dict(ID_COLUMNS, id="canvas") if self.is_canvas else ID_COLUMNS
        self.ids = id_columns(table, kinds)
        if not self.ids:
            raise UserError(
                f"{table.name}:{table.header.line}: no column with students' ids (ID, SIS User ID, Identifier, "
                f"ID number, Email address); its columns are {table.column_names_text()}"
            )
        # The rows above those of students are Canvas' own; one of them has the possible points.
        self.possible_row = next(
            (row for row in table.rows if POINTS_POSSIBLE.search(row[0])), None
        )
        self.maximum = table.find_column("maximum grade")
        self.locked = table.find_column("grade can be changed")
        self.columns = {
            lab: self._require_points_column(header) for lab, header in (asked or {}).items()
        } or self._find_grade_columns()

    def _require_points_column(self, header):
        column = self.table.find_column(header)
        if column is None:
            raise UserError(
                f"{self.table.name}: no column `{printable_line(header, 60)}`; its columns are {self.table.column_names_text()}"
            )
        kept = {at for at, _ in self.ids} | {self.maximum, self.locked} | {
            at for at, name in enumerate(self.table.column_names()) if name.casefold() in KEPT or COMPUTED.search(name)
        }
        if column in kept:
            raise UserError(
                f"{self.table.name}: `{printable_line(header, 60)}` does not hold a lab's points and stays as it is; name another column"
            )
        return column

    def _find_grade_columns(self):
        taken = {column for column, _ in self.ids}
        columns = {}
        for lab in self.labs:
            those = [
                column
                for column, name in enumerate(self.table.column_names())
                if column not in taken
                and not COMPUTED.search(name)
                and not BESIDE.search(name)
                and re.search(rf"(?i)(?<![a-z]){lab_spelling_regex(lab)}(?![a-z])", name)
            ]
            if len(those) > 1:
                several = ", ".join(f"`{printable_line(self.table.column_names()[c], 40)}`" for c in those)
                raise UserError(
                    f"{self.table.name}: {several} may all belong to {lab}; choose one with --column '{lab}=HEADER'"
                )
            if those:
                columns[lab] = those[0]
        grade = self.table.find_column("grade")
        if not columns and grade is not None:  # Moodle's worksheet of one assignment
            columns[self.labs[0] if len(self.labs) == 1 else TOTAL] = grade
        if not columns:
            raise UserError(
                f"{self.table.name}: no column is named after one of {', '.join(self.labs)}; name one with "
                f"--column '{self.labs[0]}=HEADER'; its columns are {self.table.column_names_text()}"
            )
        return columns

    def _max_points(self, row, column):
        text = row[self.maximum] if self.maximum is not None else ""
        if self.possible_row is not None:
            text = self.possible_row[column]
        number = re.fullmatch(r"(\d{1,9})(?:[.,](\d{1,9}))?", text, re.ASCII)
        value = Fraction(f"{number[1]}.{number[2] or 0}") if number else 0
        return value if value > 0 else None

    def with_grades(self, rows):
        """(the new file's bytes, lines to print) for `rows` of scores.StudentRow."""
        index, changes, messages = RecordsByStudentId(), {}, []
        for number, row in enumerate(self.table.rows):
            for column, kind in self.ids:
                index.add(kind, row[column], number)
        users, scaled = {}, set()
        for each in rows:
            if not each.has_points() or each.status == ABSENT:
                continue
            those = index.find_all(each.all_ids())
            who = printable_line(each.display_name())
            if len(those) != 1:
                messages.append(
                    f"{who}: {'not' if not those else 'more than once'} in {self.table.name}"
                )
                continue
            row = self.table.rows[those[0]]
            if those[0] in users:
                messages.append(
                    f"{who}: line {row.line} of {self.table.name} is {users[those[0]]}'s already"
                )
                continue
            users[those[0]] = who
            if self.locked is not None and row[self.locked].casefold() in ("no", "nein", "non"):
                messages.append(f"{who}: {self.table.name} marks this grade as locked")
                continue
            for lab, column in self.columns.items():
                points, most = self._points_and_maximum(each, lab)
                if points is None:
                    continue
                if self.is_canvas and row[column].casefold() in TAKEN:
                    header = printable_line(self.table.column_names()[column], 40)
                    messages.append(f"{who}: `{header}` is {row[column]} and stays so")
                    continue
                possible = self._max_points(row, column)
                if possible and Fraction(str(most)) and possible != Fraction(str(most)):
                    points = points_after_deduction(Fraction(str(points)) * possible / Fraction(str(most)), 0)
                    scaled.add(
                        f"`{printable_line(self.table.column_names()[column], 40)}`: of {most:g} points to {float(possible):g}"
                    )
                changes[those[0], column] = f"{points:g}" if points == int(points) else str(points)
        messages += sorted(scaled)
        return self.table.bytes_with_changes(changes), messages

    def _points_and_maximum(self, row, lab):
        if lab == TOTAL:
            return row.total_points(row.final), row.max_score
        return row.final.get(lab), row.most.get(lab, 0)


def read_gradebook(path, labs, columns=()):
    return Gradebook(EditableCsvFile.read(path), labs, parse_column_options(columns, labs))
