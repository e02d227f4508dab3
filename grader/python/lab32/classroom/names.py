"""Parses names of exported files and folders: the student, the lab and the attempt that they stand for."""

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime

from lab32.classroom.entries import ARCHIVE, SOURCE

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
# In a group assignment both are the group's.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?P<what>[a-z]+)_?(?P<file>.*)")
GRADESCOPE = re.compile(r"submission_(?P<order>\d+)")
# Blackboard: Lab 1_jdoe_attempt_2026-11-22-10-00-00_FILE.cu, and for each attempt a .txt without the file's
# name, which Blackboard writes itself.
BLACKBOARD = re.compile(
    r"(?P<prefix>.+_(?P<user>[^_]+))_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)"
)
# D2L Brightspace: "397063-2557369 - Jane Doe - Sep 24, 2024 926 PM", a folder or (then " - ") a prefix. The first
# number is the user's, the second the assignment's. Some institutions put their own id before the name.
D2L = re.compile(
    r"(?P<user>\d+)-\d+ - (?:(?P<own>\S*\d\S*) - )?(?P<name>.+?) ?- (?P<time>[^-]*\b\d{4}\b[^-]*?)(?: - (?P<file>.+))?"
)
D2L_TIMES = ("%b %d, %Y %I:%M %p", "%B %d, %Y %I:%M %p", "%d %B, %Y %H:%M")
# Sakai: "Doe, Jane(jdoe)/Submission attachment(s)/reduction.cu", or a prefix of the file.
SAKAI = re.compile(r"(?P<name>[^()]+,[^()]*)\((?P<user>[^()\s]+)\)(?:_Submission attachment\(s\)_(?P<file>.+))?")
SAKAI_FOLDER = "Submission attachment(s)"
SAKAI_TIME = "timestamp.txt"
# Files that Sakai itself writes beside a submission.
SAKAI_OWN = re.compile(r"(?i)timestamp\.txt|comments\.txt|feedbackText\.html|.*_submissionText\.html|Feedback Attachment\(s\)")
# Autolab: jdoe@uni.edu_3_reduction.cu, with the number of the attempt.
AUTOLAB = re.compile(r"(?P<user>[^/@\s]+@[A-Za-z0-9.-]+)_(?P<order>\d+)_(?P<file>.+)")
# PrairieLearn: USER_INSTANCE_QUESTION_VARIANT_ATTEMPT_SUBMISSION_reduction.cu, where USER is an address or a group. No
# pair of numbers comes before the question, as it does in Canvas' names.
PRAIRIELEARN = re.compile(
    r"(?P<user>(?:(?!_\d+_\d+_)[^/])+?)_\d+_[^\W\d_][^/]*_\d+_\d+_(?P<order>\d+)_(?P<file>.+)"
)
# PrairieLearn's files for manual grading: USER_ID_QUESTION_SUBMISSION_reduction.cu, where ID may be empty. A short number
# is an attempt of Autolab.
PRAIRIELEARN_MANUAL = re.compile(
    r"(?P<user>[^/@\s]+@[A-Za-z0-9.-]+)_(?:\d{5,}|[^_\d][^_]*|)_[^/]+_(?P<order>\d+)_(?P<file>.+)"
)
# Folders that platforms put around those of the students: Submitty's, whose checkout/ has what students pushed, and Teams'.
AROUND_STUDENTS = {"submissions", "checkout", "Submitted files"}
# Folders beside these, with the platform's own results or with drafts that were not handed in.
NOT_HANDED_IN = {"results", "results_public", "Working files"}
# Files that platforms write beside the students' folders.
PLATFORM_OWN = {"index.html", "grades.csv", "grades.xls", "grades.xlsx"}
# The file that Classroom 50 writes beside the repositories, whose names do not tell the platform.
SCORES_OF_REPOSITORIES = "scores.csv"
# The attempt at the end of the file's own name: "-1" (Canvas), " (1)" (a browser), "_v2".
ATTEMPT = r"(?:-(\d+)|[ _]?\((\d+)\)|[ _-]?(?:v|attempt|try)?[ _-]?(\d+))?"

@dataclass(frozen=True)
class SubmissionOwner:
    """The student that a name stands for. `kind` says what `id` is: canvas, anonymous, moodle, gradescope
    (a submission), d2l, sid, or name."""

    kind: str
    id: str
    name: str
    ids: tuple = ()  # of (kind, value), where kind may also be email or plain
    late: bool = False
    order: int = 0  # number of the attempt; later ones are higher
    file: str = ""  # the file's own name, without the platform's prefix
    time: datetime | None = None  # of the attempt, if the name contains it; in the platform's local time
    platform: str = ""  # that made the name


def unicode_normalised(text):
    return unicodedata.normalize("NFC", text)


def owner_in_platform_file_name(name):
    """The SubmissionOwner that a name stands for in which a platform has put the student, else None."""
    name = unicode_normalised(name)
    for platform, read in PLATFORMS.items():
        if owner := read(name):
            return replace(owner, platform=platform)
    return None


def _parse_moodle_file_name(name):
    if found := MOODLE.fullmatch(name):
        user = found["user"]
        return SubmissionOwner("moodle", user, found["name"], (("moodle", user),), file=found["file"])
    return None


def _parse_blackboard_file_name(name):
    if found := BLACKBOARD.fullmatch(name):
        user, time = found["user"], parse_local_time(found["time"], "%Y-%m-%d-%H-%M-%S")
        order = int(found["time"].replace("-", ""))
        return SubmissionOwner("sid", user, user, (("sid", user),), order=order, file=found["file"] or "", time=time)
    return None


def _parse_d2l_file_name(name):
    found = D2L.fullmatch(name)
    if not found:
        return None
    # The name of a folder cannot have a colon, so D2L writes 1:10 PM as 110 PM.
    told = re.sub(r"\b(\d{1,2})(\d\d)(?= [AP]M$|$)", r"\1:\2", found["time"].strip())
    own, time = found["own"], parse_local_time(told, *D2L_TIMES)
    if time is None:
        return None
    ids = (("d2l", found["user"]), *([("sid", own)] if own else []))
    # Brightspace's numbers occur in no roster, so the name is part of the key.
    return SubmissionOwner("d2l", f"{found['user']} {found['name']}", found["name"], ids,
                 order=int(time.timestamp()), file=found["file"] or "", time=time)  # fmt: skip


def _parse_anonymous_file_name(name):
    if found := ANONYMOUS.fullmatch(name):
        return SubmissionOwner(
            "anonymous", found["name"], found["name"], late=bool(found["late"]),
            order=int(found["order"]), file=found["file"],
        )  # fmt: skip
    return None


def _parse_canvas_file_name(name):
    if found := CANVAS.fullmatch(name):
        user = found["user"]
        return SubmissionOwner(
            "canvas", user, found["name"], (("canvas", user),), bool(found["late"]),
            int(found["order"]), found["file"],
        )  # fmt: skip
    return None


def _parse_file_name_with_email(name):
    if found := PRAIRIELEARN.fullmatch(name) or PRAIRIELEARN_MANUAL.fullmatch(name) or AUTOLAB.fullmatch(name):
        user = found["user"]
        kind, plain = ("email", "email") if "@" in user else ("name", "plain")
        return SubmissionOwner(kind, user, user, ((plain, user),), order=int(found["order"]), file=found["file"])
    return None


def _parse_gradescope_file_name(name):
    if found := GRADESCOPE.fullmatch(name):
        return SubmissionOwner("gradescope", found["order"], name, order=int(found["order"]))
    return None


def _parse_sakai_file_name(name):
    if found := SAKAI.fullmatch(name):
        last, _, first = (part.strip() for part in found["name"].partition(","))
        return SubmissionOwner("sid", found["user"], f"{first} {last}".strip(), (("sid", found["user"]),), file=found["file"] or "")
    return None


# The first function that can read a name decides. Canvas' form comes after the other forms with underscores, because it
# is the least specific.
PLATFORMS = {
    "moodle": _parse_moodle_file_name, "blackboard": _parse_blackboard_file_name, "d2l": _parse_d2l_file_name, "email": _parse_file_name_with_email, "anonymous": _parse_anonymous_file_name, "canvas": _parse_canvas_file_name,
    "gradescope": _parse_gradescope_file_name, "sakai": _parse_sakai_file_name,
}  # fmt: skip


def parse_local_time(text, *formats):
    """The time that a text tells, in the zone of this machine; None if the text has none of the formats."""
    for form in formats:
        try:
            return datetime.strptime(text, form).astimezone()
        except (ValueError, OverflowError, OSError):
            continue
    return None


def submission_owner_by_plain_name(name):
    """The SubmissionOwner of a folder or an archive that was named after the student by hand."""
    name = unicode_normalised(name).strip()
    return SubmissionOwner("name", name, name, (("plain", name),))


def comparable_group_name(name):
    """A group's name in the form in which names of groups are compared: Canvas writes `team12` for `Team 12`."""
    return "".join(re.findall(r"\w", unicodedata.normalize("NFKC", name).casefold())).replace("_", "")


def lab_spelling_regex(lab):
    """A pattern that matches all spellings of a lab's name."""
    return r"[ _-]?".join(map(re.escape, lab.split("_")))


@dataclass(frozen=True)
class LabParsedFromFileName:
    lab: str
    exactness: int  # 2: exactly the lab's name; 1: after a prefix; 0: somewhere in the name
    attempt: int
    prefix: str  # "ann" for `ann_reduction.cu`, and for `LAB - ann`


def stem_of_source_or_archive_name(name):
    """The name without the ending of a .cu file or an archive."""
    name = unicode_normalised(name)
    found = SOURCE.fullmatch(name) or ARCHIVE.fullmatch(name)
    return found["stem"] if found else name


def match_lab_in_file_name(name, labs):
    """A LabParsedFromFileName for the lab that a .cu file belongs to by its name; None if its name contains no lab's name, or
    more than one."""
    stem = stem_of_source_or_archive_name(name)
    forms = ((2, "{}"), (1, r"(?P<other>.+?)[ ._-]+{}"), (1, r"{} - (?P<other>.+)"))
    for exactness, form in forms:
        for lab in labs:
            if found := re.fullmatch("(?i)" + form.format(lab_spelling_regex(lab) + ATTEMPT), stem):
                other = found.re.groupindex.get("other", 0)
                numbers = [int(n) for at, n in enumerate(found.groups(), 1) if n and at != other]
                return LabParsedFromFileName(lab, exactness, numbers[0] if numbers else 0, found[other] if other else "")
    held = [lab for lab in labs if re.search(rf"(?i)(?<![a-z]){lab_spelling_regex(lab)}(?![a-z])", stem)]
    return LabParsedFromFileName(held[0], 0, 0, "") if len(held) == 1 else None


def attempt_number_of_folder(parts):
    """The number in the name of an attempt's folder: 2 for `attempt_2/`, and for Submitty's `2/`."""
    numbers = [
        int(found[1])
        for part in parts
        if (found := re.search(r"(?i)(?:(?:attempt|version|try|v|submission)[ _-]?|^)(\d+)$", part))
    ]
    return numbers[-1] if numbers else 0
