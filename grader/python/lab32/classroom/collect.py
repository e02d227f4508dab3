"""Turns a platform's export into one file per student and lab.

These layouts are accepted: Canvas' flat files and zips, Moodle's folders and flat files, Gradescope's
submission_12345 with the export's submission_metadata.yml, a folder or a zip per student, files named
STUDENT_LAB.cu, a folder per lab around any of these, and a zip of all that. The last attempt counts."""

import hashlib
import io
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import yaml

from lab32.classroom import names
from lab32.classroom.entries import (
    SOURCE_BYTES,
    Budget,
    Entry,
    Refused,
    in_archive,
    in_folder,
    opened,
)
from lab32.classroom.problem import Problem, natural, visible

METADATA = "submission_metadata.yml"
METADATA_BYTES = 256 << 20


@dataclass
class Source:
    """One lab's file of one student."""

    data: bytes
    path: str  # in the export
    time: datetime | None = None  # when it was handed in; None: the export does not say
    late: bool = False  # according to the platform
    file_time: datetime | None = None  # when the file was last modified
    group: tuple = ()  # the names of all students who handed it in together


@dataclass
class Student:
    key: str
    name: str
    ids: tuple
    files: dict = field(default_factory=dict)  # lab: Source
    notes: list = field(default_factory=list)
    refused: str = ""


@dataclass
class Parcel:
    """One attempt: the entries below a student's folder, or one file."""

    who: names.Owner
    entries: list
    lab: str = ""  # the lab whose folder it was in, if any
    time: datetime | None = None
    flat: bool = False
    group: tuple = ()


def top_of(entries):
    """{first part: its entries}, in the order of the names."""
    tops = defaultdict(list)
    for entry in entries:
        tops[entry.parts[0]].append(entry)
    return dict(sorted(tops.items()))


def is_file(entries):
    return len(entries) == 1 and len(entries[0].parts) == 1


def exactly_a_lab(name, labs):
    named = names.lab_of(name, labs)
    return named.lab if named and named.exactness == 2 else None


def is_export(entries, labs):
    """Whether these entries of a single top folder are a whole class, rather than one student's files."""
    tops, hand_made = top_of(entries), 0
    for name, inner in tops.items():
        plain = is_file(inner)
        stem, _, extension = name.rpartition(".") if plain else (name, "", "")
        if name == METADATA or names.by_platform(name) or (plain and names.by_platform(stem)):
            return True
        if exactly_a_lab(stem, labs):
            # A folder named after a lab holds a class, or is the student's own folder for that lab.
            below = [] if plain else [entry.below(1) for entry in inner]
            return bool(below) and not any(
                entry.is_source() and len(entry.parts) == 1 for entry in below
            )
        prefixed = plain and extension.casefold() == "cu" and names.lab_of(name, labs)
        folder = not plain and not names.folder_attempt((name,))
        hand_made += folder or extension.casefold() == "zip" or bool(prefixed)
    return hand_made > 1


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Gradescope's YAML names Ruby classes; they are read as plain data."""


def plain_value(loader, _, node):
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


Loader.add_multi_constructor("!", plain_value)


def metadata_of(entry):
    """{submission's number: (submitters, time)} from Gradescope's metadata."""
    data = entry.read(METADATA_BYTES + 1)
    if len(data) > METADATA_BYTES:
        raise Problem(f"{entry.name()}: larger than {METADATA_BYTES >> 20} MiB")
    try:
        record = yaml.load(data, Loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = f":{line + 1}" if line is not None else ""
        raise Problem(f"{entry.name()}{place}: this is not valid YAML; export it again") from None
    found = {}
    for name, of_one in record.items() if isinstance(record, dict) else ():
        known = names.GRADESCOPE.fullmatch(str(name))
        if not known or not isinstance(of_one, dict):
            continue
        value = {str(key).lstrip(":"): each for key, each in of_one.items()}
        people = [
            {str(key).lstrip(":"): str(each) for key, each in person.items() if each is not None}
            for person in value.get("submitters") or ()
            if isinstance(person, dict)
        ]
        when = value.get("created_at")
        if isinstance(when, datetime):
            when = when.replace(tzinfo=when.tzinfo or UTC)
        found[known["order"]] = people, when if isinstance(when, datetime) else None
    return found


def submitters(who, metadata):
    """The submitters by student id, or the submission itself where the metadata does not list it."""
    people, when = metadata.get(who.id, ((), None))
    out = []
    for person in people:
        ids = tuple(
            (kind, names.normal(person[key]))
            for kind, key in (("sid", "sid"), ("email", "email"))
            if person.get(key)
        )
        name = names.normal(person.get("name") or (ids[0][1] if ids else who.name))
        kind, value = ids[0] if ids else ("name", name)
        out.append(replace(who, kind=kind, id=value, name=name, ids=ids))
    return out or [who], when


def parcels_of(entries, labs, left_out, lab="", metadata=None):
    """All Parcels of an export. Files that belong to none are reported in `left_out`."""
    entries = [entry for entry in entries if not names.is_junk(entry.parts)]
    tops = top_of(entries)
    if METADATA in tops and is_file(tops[METADATA]):
        metadata = metadata_of(tops.pop(METADATA)[0])
    metadata = metadata or {}
    if len(tops) == 1:
        ((name, inner),) = tops.items()
        if not is_file(inner) and is_export(below := [entry.below(1) for entry in inner], labs):
            # assignment_123_export/submission_456/...
            yield from parcels_of(below, labs, left_out, lab, metadata)
            return
    for name, inner in tops.items():
        plain = is_file(inner)
        stem, _, extension = name.rpartition(".") if plain else (name, "", "")
        of_lab = None if lab or extension.casefold() == "cu" else exactly_a_lab(stem, labs)
        if plain and extension.casefold() not in ("cu", "zip"):
            left_out.append(f"{inner[0].name()}: neither a .cu file nor a zip")
        elif of_lab:
            try:
                held = unzipped(inner[0]) if plain else [entry.below(1) for entry in inner]
            except Refused as error:
                left_out.append(str(error))
                continue
            yield from parcels_of(held, labs, left_out, of_lab, metadata)
        else:
            yield from parcels_of_one(name, stem, inner, plain, labs, lab, metadata, left_out)


def unzipped(entry):
    """The entries of a zip that the platform itself wrote, which may therefore be of any size."""
    return list(in_archive(io.BytesIO(entry.read(entry.size + 1)), entry.name(), trusted=True))


def parcels_of_one(name, stem, inner, plain, labs, lab, metadata, left_out):
    """The Parcels of one entry at the top level: a student's folder, archive or file."""
    source = plain and inner[0].is_source()
    who = names.by_platform(name) or (names.by_platform(stem) if plain else None)
    if who is None and source:
        named = names.lab_of(name, labs)
        if named and named.exactness == 1:
            who = names.by_hand(named.prefix)
        elif lab and not named:
            who = names.by_hand(stem)
        else:
            left_out.append(
                f"{inner[0].name()}: the name does not tell the student; student_{lab or 'LAB'}.cu would"
            )
            return
    elif who is None:
        named = names.lab_of(stem, labs) if plain else None
        who = names.by_hand(named.prefix if named and named.exactness == 1 else stem)
    when = None
    people = [who]
    if who.kind == "gradescope":
        people, when = submitters(who, metadata)
    entries = inner if plain else [entry.below(1) for entry in inner]
    if plain and who.file:
        entries = [
            Entry(
                (names.normal(who.file),),
                inner[0].kind,
                inner[0].size,
                inner[0].read,
                inner[0].time,
                inner[0].packed,
            )
        ]
    group = tuple(person.name for person in people) if len(people) > 1 else ()
    for person in people:
        yield Parcel(person, entries, lab, when, plain, group)


@dataclass
class Candidate:
    key: tuple  # the largest is the last attempt
    lab: str
    entry: Entry
    parcel: Parcel


def candidates_of(parcel, labs, budget, ignored):
    """The .cu files of a parcel that belong to some lab."""
    sources = [
        entry for entry in opened(parcel.entries, budget)
        if not names.is_junk(entry.parts) and entry.is_source()
    ]  # fmt: skip
    asked = [parcel.lab] if parcel.lab else labs
    for entry in sources:
        named = names.lab_of(entry.parts[-1], labs)
        if named is None:  # main.cu in a folder named after a lab
            folders = [found for part in entry.parts[:-1] if (found := names.lab_of(part, labs))]
            named = replace(folders[-1], exactness=0) if folders else None
        if named is None and len(asked) == 1 and len(sources) == 1:
            named = names.LabName(asked[0], 0, 0, "")
        if named is None or named.lab not in asked:
            ignored.append(entry.name())
            continue
        when = parcel.time.timestamp() if parcel.time else 0.0
        order = (when, parcel.who.order, named.exactness, named.attempt)
        place = (
            names.folder_attempt(entry.parts[:-1]),
            -len(entry.parts),
            natural("/".join(entry.parts)),
        )
        yield Candidate((*order, *place), named.lab, entry, parcel)


def student_of(key, parcels, labs):
    """One person's attempts as a Student; an error in them affects this student only."""
    first = parcels[0].who
    student = Student(key, first.name, tuple(dict.fromkeys(i for p in parcels for i in p.who.ids)))
    budget, found, ignored = Budget(), defaultdict(list), []
    try:
        for parcel in parcels:
            for candidate in candidates_of(parcel, labs, budget, ignored):
                found[candidate.lab].append(candidate)
        for lab, several in found.items():
            best = max(several, key=lambda each: each.key)
            data = best.entry.read(SOURCE_BYTES + 1)
            changed = best.entry.time and datetime.fromtimestamp(best.entry.time, UTC)
            student.files[lab] = Source(
                data, best.entry.name(), best.parcel.time, best.parcel.who.late, changed,
                best.parcel.group,
            )  # fmt: skip
            if len(several) > 1:
                student.notes.append(f"{lab}: {len(several)} files, graded is {best.entry.name()}")
    except Refused as error:
        student.files, student.refused = {}, str(error)
    if ignored and not student.refused:
        student.notes.append(
            f"not looked at: {', '.join(ignored[:3])}" + (" ..." if len(ignored) > 3 else "")
        )
    return student


def entries_of(path):
    if path.is_dir():
        return in_folder(path)
    if not path.exists():
        raise Problem(f"{visible(path)}: no such file or folder")
    try:
        return list(in_archive(path, path.name, trusted=True))
    except Refused as error:
        raise Problem(f"{error}; SUBMISSIONS must be a folder or a zip") from None


def joined(people):
    """Merges students of one name from different labs' folders, since Moodle numbers students anew in each
    assignment. Two students of one name in the same folder stay two people."""
    named = defaultdict(list)
    for kind, value in people:
        if kind == "moodle":
            named[people[kind, value][0].who.name].append((kind, value))
    for keys in named.values():
        labs = [lab for key in keys for lab in {parcel.lab for parcel in people[key]}]
        if len(keys) > 1 and "" not in labs and len(set(labs)) == len(labs):
            people[keys[0]] = [parcel for key in keys for parcel in people.pop(key)]
    return people


def collect(path, labs):
    """(students sorted by name, the files of the export that belong to no student)"""
    left_out, people = [], defaultdict(list)
    for parcel in parcels_of(entries_of(path), labs, left_out):
        people[parcel.who.kind, parcel.who.id].append(parcel)
    people = joined(people)
    students = [
        student_of(f"{kind}:{value}", parcels, labs) for (kind, value), parcels in people.items()
    ]
    return sorted(students, key=lambda s: (natural(s.name.casefold()), s.key)), left_out


def labs_handed_in(path, labs):
    """The labs with at least one file: they are graded unless --labs names others."""
    students, _ = collect(path, labs)
    return [lab for lab in labs if any(lab in student.files for student in students)]


def content_hash(files):
    """A hash of {lab: bytes}."""
    digest = hashlib.sha256()
    for lab, data in sorted(files.items()):
        digest.update(f"{lab} {len(data)}\n".encode() + data)
    return digest.hexdigest()
