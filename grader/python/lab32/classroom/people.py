"""Reads the roster of a class, and matches submissions with its rows by their ids."""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from lab32.classroom.names import comparable_group_name
from lab32.classroom.problem import UserError, printable_line
from lab32.classroom.table import EditableCsvFile

# Headers of columns in rosters and gradebooks, with the kind of their values. A `plain` id may be of any kind.
ID_COLUMNS = {
    "id": "plain",
    "student id": "sid",
    "student_id": "sid",
    "sid": "sid",
    "sis user id": "sid",
    "sis login id": "sid",
    "login id": "sid",
    "id number": "sid",
    "username": "sid",
    "user": "sid",
    "login": "sid",
    "canvas id": "canvas",
    "identifier": "moodle",
    "moodle id": "moodle",
    "email": "email",
    "email address": "email",
    "e-mail": "email",
}


def comparable_id(value):
    """The id as it is compared with others; for example, Moodle's `Participant 12345` becomes 12345."""
    text = unicodedata.normalize("NFC", str(value)).strip().casefold()
    return re.sub(r"^participant (?=\d+$)", "", text)


def sorted_letters_of_name(text):
    """The name as it is compared with others: `Doe, Jane`, `Jane Doe` and Canvas' `doejane` become equal."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return "".join(sorted("".join(words)))


class RecordsByStudentId:
    """Finds objects by their ids, which are pairs (kind, value)."""

    def __init__(self):
        self._found = defaultdict(list)

    def add(self, kind, value, thing):
        if comparable_id(value):
            self._found[comparable_id(value)].append((kind, thing))

    def find_all(self, ids):
        """All objects that have one of these ids, each object once."""
        out = []
        for kind, value in ids:
            for other, thing in self._found.get(comparable_id(value), ()):
                if (kind == other or "plain" in (kind, other)) and thing not in out:
                    out.append(thing)
        return out


@dataclass(frozen=True)
class RosterPerson:
    line: int  # in the roster
    id: str
    name: str
    ids: tuple
    submitted: datetime | None = None


def id_columns(table, kinds=ID_COLUMNS):
    """The columns of the header that hold ids, in its order, as [(column, kind)]."""
    found = [
        (column, kinds[name.casefold()])
        for column, name in enumerate(table.column_names())
        if name.casefold() in kinds
    ]
    for column, _ in found:
        table.find_column(table.column_names()[column])  # raises an error if two columns have this name
    return found


def parse_time(text, place):
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise UserError(
            f"{place}: `{printable_line(text, 40)}` is not a time; write it as 2026-11-23T23:59:00+01:00"
        ) from None


def read_members_by_group(path):
    """{a group's name as names.comparable_group_name() writes it: the RosterPersons in it} from a CSV file with a row per member."""
    table = EditableCsvFile.read(path)
    column, columns = table.find_column("group", "group name", "team"), id_columns(table)
    name = table.find_column("name", "full name", "student", "student name")
    if column is None or not (columns or name is not None):
        raise UserError(
            f"{table.name}:{table.header.line}: the first line must name the columns `group` and an id or `name`; "
            f"its columns are {table.column_names_text()}"
        )
    groups = defaultdict(list)
    for row in table.rows:
        ids = tuple((kind, row[at]) for at, kind in columns if row[at])
        called = row[name] if name is not None else ""
        if not row[column] or not (ids or called):
            raise UserError(f"{table.name}:{row.line}: this row has no group or no student; fill it in, or delete the row")
        person = RosterPerson(row.line, ids[0][1] if ids else called, called or ids[0][1], ids or (("name", called),))
        groups[comparable_group_name(row[column])].append(person)
    return dict(groups)


def read_roster(path):
    table = EditableCsvFile.read(path)
    columns = id_columns(table)
    if not columns:
        raise UserError(
            f"{table.name}:{table.header.line}: it has no column with ids (id, student id, email, ...); "
            f"its columns are {table.column_names_text()}"
        )
    whole = table.find_column("name", "full name", "student", "student name")
    first = table.find_column("first name", "firstname", "given name")
    last = table.find_column("last name", "lastname", "surname", "family name")
    submitted = table.find_column("submitted_at", "submitted at")
    people, seen = [], {}
    for row in table.rows:
        ids = tuple((kind, row[column]) for column, kind in columns if row[column])
        if not ids:
            raise UserError(
                f"{table.name}:{row.line}: this row has no id; fill one in, or delete the row"
            )
        for one in {(kind, comparable_id(value)) for kind, value in ids}:
            if one in seen:
                raise UserError(
                    f"{table.name}:{row.line}: the id `{printable_line(one[1], 40)}` is also in line {seen[one]}; "
                    "delete one of them"
                )
            seen[one] = row.line
        name = row[whole] if whole is not None else ""
        name = name or " ".join(row[c] for c in (first, last) if c is not None and row[c])
        when = row[submitted] if submitted is not None else ""
        people.append(
            RosterPerson(
                row.line, ids[0][1], name or ids[0][1], ids,
                parse_time(when, f"{table.name}:{row.line}") if when else None,
            )
        )  # fmt: skip
    if not people:
        raise UserError(f"{table.name}: the roster has a header and no students")
    return people


def match_students(students, people):
    """({student's key: RosterPerson}, [for each student without one, the reason]). Students are matched by id, else by a name
    that only one has."""
    by_id, by_name = RecordsByStudentId(), defaultdict(list)
    for person in people:
        for kind, value in person.ids:
            by_id.add(kind, value, person)
        by_name[sorted_letters_of_name(person.name)].append(person)
    names = defaultdict(int)
    for student in students:
        names[sorted_letters_of_name(student.name)] += 1
    found, taken, unmatched = {}, {}, []
    for student in students:
        those = by_id.find_all(student.ids)
        if not those and names[sorted_letters_of_name(student.name)] == 1:
            those = by_name[sorted_letters_of_name(student.name)]
        if len(those) != 1:
            why = "no student in the roster" if not those else "more than one student in the roster"
            unmatched.append(f"{printable_line(student.name)}: {why} has this id or name")
        elif those[0] in taken:
            other = taken[those[0]]
            unmatched.append(
                f"{printable_line(student.name)}: {printable_line(other)} is the same person according to line {those[0].line} of the roster"
            )
        else:
            taken[those[0]] = student.name
            found[student.key] = those[0]
    return found, unmatched
