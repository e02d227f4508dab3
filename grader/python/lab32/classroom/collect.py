"""Turns a platform's export into one file per student and lab, with the student's own headers.

These layouts are accepted: flat files, folders and zips as the platforms of names.py name them, a folder or an archive
per student, files named STUDENT_LAB.cu, a folder per lab around any of these,
and an archive of all that. The last attempt counts. Every file of an export belongs to a student or to the list of
what was left out; what cannot be read is listed with its student."""

import hashlib
import io
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lab32.classroom import chooser, names
from lab32.classroom.entries import (
    SOURCE_BYTES,
    SizeBudget,
    SubmissionRefused,
    archive_entries,
    entries_below_folder,
    is_junk_path,
    open_nested_archives,
)
from lab32.classroom.gradescope import METADATA, read_gradescope_metadata, submitters_and_time
from lab32.classroom.problem import UserError, natural_sort_key, printable_line

DESCRIPTION_BYTES = 64 << 10
# Files that may hold a lab's code in a form that is not read. Others, such as a report, are only mentioned.
CODE = re.compile(r"(?i).*\.(7z|rar|gz|bz2|xz|zst|z|cab|ipynb|cpp|cxx|cc|c|cuf|docx?|odt|rtf|pages)")
NO_STUDENT = "the name does not tell the student; student_{}.cu would"


@dataclass
class SubmittedFile:
    """One lab's file of one student."""

    data: bytes
    path: str  # in the export
    time: datetime | None = None  # when it was handed in; None if the export does not say
    late: bool = False  # according to the platform
    file_time: datetime | None = None  # when the file was last modified, by the export
    group: tuple = ()  # the names of all students who handed it in together
    headers: dict = field(default_factory=dict)  # {path relative to the file's folder: bytes}


@dataclass
class Student:
    key: str
    name: str
    ids: tuple
    files: dict = field(default_factory=dict)  # lab: SubmittedFile
    attempts: dict = field(default_factory=dict)  # {lab: SubmittedFiles of all attempts, the last one first}, if asked for
    notes: list = field(default_factory=list)
    refused: str = ""
    unread: str = ""  # names of unreadable files, for a student who has no file for a lab
    came_as: list = field(default_factory=list)  # (the lab whose folder it was in, the platform's name of the submission)


@dataclass
class AttemptFilesInExport:
    """One attempt: the entries below a student's folder, or flat files with the same student and attempt."""

    who: names.SubmissionOwner
    entries: list
    name: str  # at the export's top level
    lab: str = ""  # the lab whose folder it was in, if any
    time: datetime | None = None
    group: tuple = ()
    problem: str = ""  # the reason why nothing of the attempt can be graded


def entries_by_top_folder(entries):
    """{first part of the path: the entries below it}, in the order of the names."""
    tops = defaultdict(list)
    for entry in entries:
        tops[entry.parts[0]].append(entry)
    return dict(sorted(tops.items()))


def is_single_file(entries):
    return len(entries) == 1 and len(entries[0].parts) == 1 and entries[0].kind != "empty"


def entries_without_first_folder(entries):
    """The entries of a folder with their paths relative to it."""
    return [entry.without_leading_folders(1) for entry in entries if len(entry.parts) > 1]


def lab_by_exact_name(name, labs):
    named = names.match_lab_in_file_name(name, labs)
    return named.lab if named and named.exactness == 2 else None


def owner_in_exported_name(name, is_plain_file):
    """The SubmissionOwner that the name of a folder stands for or, if `is_plain_file`, the name of a file."""
    return names.owner_in_platform_file_name(name) or (names.owner_in_platform_file_name(names.stem_of_source_or_archive_name(name)) if is_plain_file else None)


def folders_around_students(tops):
    """The names of folders that a platform has put around those of the students, if there is nothing else but its own
    folders."""
    around = [name for name, inner in tops.items() if name in names.AROUND_STUDENTS and not is_single_file(inner)]
    return around if tops.keys() <= names.NOT_HANDED_IN | set(around) else []


def is_class_export(entries, labs):
    """Whether the entries, which share one folder at the top, are a whole class rather than one student's files."""
    tops, hand_made = entries_by_top_folder(entries), 0
    if folders_around_students(tops):
        return True
    if "labs" in tops and not is_single_file(tops["labs"]):
        return False  # a student's whole project
    for name, inner in tops.items():
        plain = is_single_file(inner)
        if name == METADATA or owner_in_exported_name(name, plain):
            return True
        stem = names.stem_of_source_or_archive_name(name) if plain else name
        if lab_by_exact_name(stem, labs):
            # The folder may be named after a lab. Then it has a class in it, or it is the student's own folder for that
            # lab.
            held = [] if plain else entries_without_first_folder(inner)
            return bool(held) and not any(
                entry.is_cu_file() and len(entry.parts) == 1 for entry in held
            )
        named = plain and inner[0].is_cu_file() and names.match_lab_in_file_name(name, labs)
        folder = not plain and not names.attempt_number_of_folder((name,))
        hand_made += folder or (plain and inner[0].is_archive()) or bool(named)
    return hand_made > 1


def attempts_in_export(entries, labs, left_out, lab="", metadata=None):
    """All HandedInAttempts of an export. Archives of whole labs that cannot be read are reported in `left_out`."""
    entries = [entry for entry in entries if not is_junk_path(entry.parts)]
    tops = entries_by_top_folder(entries)
    if METADATA in tops and is_single_file(tops[METADATA]):
        metadata = read_gradescope_metadata(tops.pop(METADATA)[0])
    metadata = metadata or {}
    if len(tops) == 1:
        ((name, inner),) = tops.items()
        if not is_single_file(inner) and is_class_export(entries_without_first_folder(inner), labs):
            # assignment_123_export/submission_456/...
            yield from attempts_in_export(entries_without_first_folder(inner), labs, left_out, lab, metadata)
            return
    if around := folders_around_students(tops):
        inner = [entry for name in around for entry in entries_without_first_folder(tops[name])]
        yield from attempts_in_export(inner, labs, left_out, lab, metadata)
        return
    if any(owner_in_exported_name(name, is_single_file(inner)) for name, inner in tops.items()):
        tops = {name: inner for name, inner in tops.items() if name not in names.PLATFORM_OWN}
    if not all(is_single_file(inner) for inner in tops.values()):
        tops.pop(names.SCORES_OF_REPOSITORIES, None)
    users = blackboard_user_by_file_prefix(tops)
    for name, inner in tops.items():
        plain = is_single_file(inner)
        of_lab = None
        if not lab and not (plain and not inner[0].is_archive()):
            of_lab = lab_by_exact_name(names.stem_of_source_or_archive_name(name) if plain else name, labs)
        if of_lab:
            try:
                held = entries_of_trusted_archive(inner[0]) if plain else entries_without_first_folder(inner)
            except SubmissionRefused as error:
                left_out.append(str(error))
                continue
            yield from attempts_in_export(held, labs, left_out, of_lab, metadata)
        else:
            yield from attempts_of_top_entry(name, inner, labs, lab, metadata, users)


def entries_of_trusted_archive(entry):
    """The entries of an archive that the platform itself has written, and whose size is therefore not limited."""
    return list(archive_entries(io.BytesIO(entry.read(entry.size + 1)), entry.printable_name(), trusted=True))


def blackboard_user_by_file_prefix(tops):
    """{prefix before `_attempt_`: user name}, from the .txt files that Blackboard writes: from a file's name alone, one
    cannot tell where a user name with an underscore ends."""
    users = {}
    for name, inner in tops.items():
        found = names.BLACKBOARD.fullmatch(names.unicode_normalised(name))
        if found and not found["file"] and is_single_file(inner):
            text = inner[0].read(DESCRIPTION_BYTES).decode("utf-8", "replace")
            told = re.search(r"^Name: *(.*?) *\(([^()\s]+)\)\s*$", text, re.M)
            if told and found["prefix"].endswith("_" + told[2]):
                users[found["prefix"]] = told[2], told[1]
    return users


def own_sakai_entries_and_time(who, entries):
    """(the student's own entries, the time of the submission) of a folder that Sakai wrote."""
    time, own = None, []
    for entry in entries:
        if entry.parts == (names.SAKAI_TIME,) and entry.kind == "file":
            time = parse_sakai_time(entry.read(100).decode("ascii", "replace").strip())
        if names.SAKAI_OWN.fullmatch(entry.parts[0]):
            continue
        inside = entry.parts[0] == names.SAKAI_FOLDER
        if not inside or len(entry.parts) > 1:
            own.append(entry.without_leading_folders(1) if inside else entry)
    return own, time


def parse_sakai_time(text):
    """The time in Sakai's timestamp.txt, in UTC: 20261123180000000, or 2026-11-23T18:00:00Z from newer versions."""
    for form, length in (("%Y%m%d%H%M%S", 14), ("%Y-%m-%dT%H:%M:%S", 19)):
        try:
            return datetime.strptime(text[:length], form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def attempts_of_top_entry(name, inner, labs, lab, metadata, users):
    """The HandedInAttempts of one entry at the top level: a student's folder, archive or file."""
    plain = is_single_file(inner)
    stem = names.stem_of_source_or_archive_name(name) if plain else name
    who, problem = owner_in_exported_name(name, plain), ""
    if who is None:
        bare = stem if not plain or stem != names.unicode_normalised(name) else name.rpartition(".")[0] or name
        named = names.match_lab_in_file_name(bare, labs) if plain else None
        if named and named.exactness == 1:
            who = names.submission_owner_by_plain_name(named.prefix)
        elif plain and inner[0].is_cu_file() and not (lab and not named):
            person, dash, _ = stem.rpartition(" - ")  # Google Classroom: `Jane Doe - FILE.cu`
            told = bool(dash) and not named
            problem = "" if told else NO_STUDENT.format(lab or "LAB")
            who = names.submission_owner_by_plain_name(person if told else name)
        else:
            who = names.submission_owner_by_plain_name(bare)
    if who.platform == "blackboard":
        prefix = names.BLACKBOARD.fullmatch(names.unicode_normalised(name))["prefix"]
        user, person = users.get(prefix, (who.id, who.name))
        who = replace(who, id=user, name=person, ids=(("sid", user),))
    when, people = who.time, [who]
    if who.kind == "gradescope":
        people, when = submitters_and_time(who, metadata)
    entries = inner if plain else entries_without_first_folder(inner)
    if who.platform == "sakai" and not plain:
        entries, when = own_sakai_entries_and_time(who, entries)
    if plain and who.platform == "blackboard" and not who.file:
        entries = []  # the .txt is Blackboard's own description of the attempt
    elif plain and who.file:
        entries = [with_students_file_name(inner[0], who)]
    group = tuple(person.name for person in people) if len(people) > 1 else ()
    for person in people:
        yield AttemptFilesInExport(person, entries, name, lab, when, group, problem)


def with_students_file_name(entry, who):
    """The entry under the name that the student gave the file: Canvas appends -1, -2, ... to the names of later
    attempts."""
    own = names.unicode_normalised(who.file)
    if who.platform != "canvas":
        return replace(entry, parts=(own,), exported=entry.parts[0])
    return replace(entry, parts=(re.sub(r"-\d+(?=\.\w+$)", "", own),), order=who.order, exported=own)


def merge_files_of_same_attempt(all_attempts):
    """Makes one person's flat files of one attempt one AttemptFilesInExport, so that a .cu finds the headers handed in with it.
    Canvas numbers each file, and exports the last attempt only."""
    out, flat = [], {}
    for attempt in all_attempts:
        number = attempt.who.order if attempt.who.platform != "canvas" else 0
        key = attempt.lab, attempt.who.platform, number
        if attempt.who.file and key in flat:
            flat[key].entries = flat[key].entries + attempt.entries
            continue
        attempt = replace(attempt, who=replace(attempt.who, order=number))
        if attempt.who.file:
            flat[key] = attempt
        out.append(attempt)
    return out


@dataclass
class FilesOfPerson:
    """What one person handed in: the candidates for the labs, and the files that belong to none."""

    found: list = field(default_factory=list)  # tuples (CandidateFile, AttemptFilesInExport, all entries of the attempt)
    left: list = field(default_factory=list)  # .cu files that belong to no lab
    others: list = field(default_factory=list)  # all other files
    problems: list = field(default_factory=list)

    def add_attempt(self, attempt, labs, budget):
        if attempt.problem:
            self.problems.append(f"{printable_line(attempt.name)}: {attempt.problem}")
            return
        entries = list(open_nested_archives(attempt.entries, budget))
        if not entries:
            what = "no file" if attempt.who.platform == "blackboard" else "an empty folder"
            self.problems.append(f"{printable_line(attempt.name)}: {what}")
        found, left = chooser.find_candidate_files(entries, labs, [attempt.lab] if attempt.lab else labs)
        self.found += [(each, attempt, entries) for each in found]
        self.left += left
        self.others += [e for e in entries if not e.is_cu_file() and not e.is_header()]

    def candidates_by_lab(self):
        """{lab: (CandidateFile, AttemptFilesInExport, entries), the one of the last attempt that the chooser prefers first}."""
        several = defaultdict(list)
        for each in sorted(self.found, key=lambda f: (-_seconds_since_epoch(f[1].time), -f[1].who.order, f[0].rank)):
            several[each[0].lab].append(each)
        return several


def _seconds_since_epoch(time):
    return time.timestamp() if time else 0.0


def attempt_key_of_file(candidate, attempt, entries):
    """A key that is the same for files of one attempt. Several files of one attempt are alternatives, and not
    attempts."""
    return _seconds_since_epoch(attempt.time), attempt.who.order, candidate.attempt_order_key()


def read_file_with_submission_facts(candidate, attempt, entries):
    entry, time = candidate.entry, candidate.entry.time
    data = entry.read(SOURCE_BYTES + 1)
    return SubmittedFile(
        data, entry.printable_name(), attempt.time, attempt.who.late, time and datetime.fromtimestamp(time, UTC),
        attempt.group, chooser.student_headers_for_source(entry, data, entries),
    )  # fmt: skip


def names_of_candidate_files(several):
    """The names of a student's candidate files for one lab, as text; if they are of several attempts, as ATTEMPT/FILE."""
    in_one = len({attempt.name for _, attempt, _ in several}) == 1
    return [
        candidate.entry.printable_name() if in_one or attempt.who.file else f"{printable_line(attempt.name)}/{candidate.entry.printable_name()}"
        for candidate, attempt, _ in several
    ]


def first_file_names_text(entries, most=3):
    shown = [entry.printable_name() for entry in entries[:most]]
    return ", ".join(shown) + (" ..." if len(entries) > most else "")


def student_from_attempts(key, all_attempts, labs, every_attempt=False):
    """One person's attempts as a Student; an error in them affects this student only."""
    first = all_attempts[0].who
    student = Student(key, first.name, tuple(dict.fromkeys(i for p in all_attempts for i in p.who.ids)))
    student.came_as = list(dict.fromkeys((attempt.lab, attempt.name) for attempt in all_attempts))
    hand, budget = FilesOfPerson(), SizeBudget()
    try:
        for attempt in merge_files_of_same_attempt(all_attempts):
            hand.add_attempt(attempt, labs, budget)
        for lab, several in hand.candidates_by_lab().items():
            student.files[lab] = read_file_with_submission_facts(*several[0])
            attempts = {}
            for each in several if every_attempt else ():
                attempts.setdefault(attempt_key_of_file(*each), each)
            student.attempts[lab] = [read_file_with_submission_facts(*each) for each in attempts.values()]
            if len(several) > 1:
                graded, *passed = names_of_candidate_files(several)
                student.notes.append(
                    f"{lab}: {len(several)} files, graded is {graded}; passed over: {', '.join(passed[:3])}"
                )
    except SubmissionRefused as error:
        student.files, student.attempts, student.notes, student.refused = {}, {}, [], str(error)
        return student
    included = {path.rpartition("/")[2] for source in student.files.values() for path in source.headers}
    code = [e for e in hand.left if e.parts[-1] not in included]
    code += [e for e in hand.others if CODE.fullmatch(e.parts[-1]) and e.parts[-1] not in included]
    if not student.files:
        student.unread = "; ".join(filter(None, [first_file_names_text(hand.left + hand.others), *hand.problems]))
    elif set(labs) - set(student.files):
        student.unread = first_file_names_text(code)
    if code and not student.unread:
        student.notes.append(f"not looked at: {first_file_names_text(code)}")
    return student


def read_export_entries(path):
    if path.is_dir():
        return entries_below_folder(path)
    if not path.exists():
        raise UserError(f"{printable_line(path)}: no such file or folder")
    if not path.is_file():
        raise UserError(f"{printable_line(path)}: not a regular file")
    try:
        return list(archive_entries(path, path.name, trusted=True))
    except SubmissionRefused as error:
        raise UserError(f"{error}; SUBMISSIONS must be a folder, a zip or a tar") from None


def merge_people_of_same_name(people):
    """Merges students of one name who come from different labs' folders, because Moodle gives a student another number
    in each assignment. Two students of one name in one folder remain two people."""
    named = defaultdict(list)
    for kind, value in people:
        if kind == "moodle":
            named[people[kind, value][0].who.name].append((kind, value))
    for keys in named.values():
        labs = [lab for key in keys for lab in {attempt.lab for attempt in people[key]}]
        if len(keys) > 1 and "" not in labs and len(set(labs)) == len(labs):
            people[keys[0]] = [attempt for key in keys for attempt in people.pop(key)]
    return people


def copy_attempt_for_each_member(attempt, groups):
    """A AttemptFilesInExport for each member of the group that handed it in, or the AttemptFilesInExport itself if no group did."""
    members = groups.get(names.comparable_group_name(attempt.who.name), ()) if groups else ()
    if not members:
        return [attempt]
    together = tuple(person.name for person in members)
    return [
        replace(attempt, who=replace(attempt.who, kind=person.ids[0][0], id=person.ids[0][1], name=person.name,
                                    ids=person.ids), group=together)
        for person in members
    ]  # fmt: skip


def collect_students(path, labs, groups=None, every_attempt=False):
    """(students sorted by name, what was left out because it cannot be read). `groups` is {name: its people.RosterPerson};
    `every_attempt`: a student also has the SubmittedFiles of earlier attempts."""
    left_out, people = [], defaultdict(list)
    for attempt in attempts_in_export(read_export_entries(path), labs, left_out):
        for each in copy_attempt_for_each_member(attempt, groups):
            people[each.who.kind, each.who.id].append(each)
    people = merge_people_of_same_name(people)
    students = [
        student_from_attempts(f"{kind}:{value}", all_attempts, labs, every_attempt) for (kind, value), all_attempts in people.items()
    ]
    return sorted(students, key=lambda s: (natural_sort_key(s.name.casefold()), s.key)), left_out


def labs_handed_in(path, labs):
    """The labs for which at least one student has a file: these are graded unless --labs names others."""
    students, _ = collect_students(path, labs)
    return [lab for lab in labs if any(lab in student.files for student in students)]


def file_contents_by_path(source_by_lab):
    """The files to store and to grade, as {path below the student's folder: bytes}."""
    tree = {}
    for lab, source in source_by_lab.items():
        tree |= {f"{lab}/{path}": data for path, data in source.headers.items()}
        tree[f"{lab}/{lab}.cu"] = source.data
    return tree


def content_hash(files):
    """A hash of {path: bytes}."""
    digest = hashlib.sha256()
    for path, data in sorted(files.items()):
        digest.update(f"{path} {len(data)}\n".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()
