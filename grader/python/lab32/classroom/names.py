"""Parses names of exported files and folders: the student, the lab and the attempt that they stand for."""

import re
import unicodedata
from dataclasses import dataclass

# Canvas: lastfirst_12345_67890_reduction-1.cu or lastfirst_LATE_12345_67890_reduction.cu, where the
# numbers are the user and the file. Canvas removes such pairs of numbers from names (sanitize_user_name in
# its lib/content_zipper.rb), so the first pair is its own.
CANVAS = re.compile(
    r"(?P<name>[^/]*?[^\W\d_][^/]*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<order>\d+)_(?P<file>.+)"
)
# Canvas with anonymous grading: LATE_anon_x7Kp2_67890_reduction.cu.
ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<name>anon_[^\W_]+)_(?P<order>\d+)_(?P<file>.+)")
# Moodle: "Name of Student_12345_assignsubmission_file_", a folder or a prefix of the file's own name. The
# number identifies the student within one assignment only.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?P<what>[a-z]+)_?(?P<file>.*)")
GRADESCOPE = re.compile(r"submission_(?P<order>\d+)")
# The attempt at the end of the file's own name: "-1" (Canvas), " (1)" (a browser), "_v2".
ATTEMPT = r"(?:-(\d+)|[ _]?\((\d+)\)|[ _-]?(?:v|attempt|try)?[ _-]?(\d+))?"

JUNK = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini", ".git", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Owner:
    """The student that a name stands for. `kind` says what `id` is: canvas, anonymous, moodle, gradescope
    (a submission), sid, or name."""

    kind: str
    id: str
    name: str
    ids: tuple = ()  # of (kind, value), where kind may also be email or plain
    late: bool = False
    order: int = 0  # a later attempt has a higher one
    file: str = ""  # the file's own name, without the platform's prefix


def normal(text):
    return unicodedata.normalize("NFC", text)


def is_junk(parts):
    return any(part.casefold() in JUNK or part.startswith("._") for part in parts)


def by_platform(name):
    """The Owner by a name that Canvas, Moodle or Gradescope made, else None."""
    name = normal(name)
    if found := MOODLE.fullmatch(name):
        user = found["user"]
        return Owner("moodle", user, found["name"], (("moodle", user),), file=found["file"])
    if found := ANONYMOUS.fullmatch(name):
        return Owner(
            "anonymous", found["name"], found["name"], late=bool(found["late"]),
            order=int(found["order"]), file=found["file"],
        )  # fmt: skip
    if found := CANVAS.fullmatch(name):
        user = found["user"]
        return Owner(
            "canvas", user, found["name"], (("canvas", user),), bool(found["late"]),
            int(found["order"]), found["file"],
        )  # fmt: skip
    if found := GRADESCOPE.fullmatch(name):
        return Owner("gradescope", found["order"], name, order=int(found["order"]))
    return None


def by_hand(name):
    """The Owner by a folder or an archive that was named after the student by hand."""
    name = normal(name).strip()
    return Owner("name", name, name, (("plain", name),))


def lab_words(lab):
    """A pattern for the spellings of a lab's name."""
    return r"[ _-]?".join(map(re.escape, lab.split("_")))


@dataclass(frozen=True)
class LabName:
    lab: str
    exactness: int  # 2: exactly the lab's name; 1: after a prefix; 0: somewhere in the name
    attempt: int
    prefix: str  # "ann" for `ann_reduction.cu`


def lab_of(name, labs):
    """The lab that a .cu file belongs to by its name, or None."""
    stem = re.sub(r"(?i)\.cu$", "", normal(name))
    for exactness, before in ((2, ""), (1, r"(?P<prefix>.+?)[ ._-]+")):
        for lab in labs:
            if found := re.fullmatch(rf"(?i){before}{lab_words(lab)}{ATTEMPT}", stem):
                prefix = found["prefix"] if before else ""
                numbers = [int(n) for n in found.groups()[bool(before) :] if n]
                return LabName(lab, exactness, numbers[0] if numbers else 0, prefix)
    held = [lab for lab in labs if re.search(rf"(?i)(?<![a-z]){lab_words(lab)}(?![a-z])", stem)]
    return LabName(held[0], 0, 0, "") if len(held) == 1 else None


def folder_attempt(parts):
    """The number in the name of an attempt's folder: 2 for `attempt_2/`."""
    numbers = [
        int(found[1])
        for part in parts
        if (found := re.search(r"(?i)(?:attempt|version|try|v|submission)[ _-]?(\d+)$", part))
    ]
    return numbers[-1] if numbers else 0
