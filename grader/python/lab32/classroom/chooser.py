"""Chooses the file of a lab among all that one student handed in. `lab32 grade`, `lab32 class` and the autograders use
this one rule, so that a submission has the same score everywhere.

In this order: labs/LAB/LAB.cu, LAB/LAB.cu, LAB.cu, each nearest to the top; then names such as `LAB (1).cu`,
`my_LAB.cu`; then the only .cu of a folder named after the lab; then, if a single lab is graded, the
only .cu of all."""

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass

from lab32.classroom import names
from lab32.classroom.entries import SOURCE_BYTES, FileEntry
from lab32.classroom.problem import natural_sort_key

ANSWERS = "answers.toml"
MOST_HEADERS = 63  # `lab32 grade` reads 64 files of a submission
INCLUDE = re.compile(rb'include[ \t]*\(?[ \t]*"([^"\n]+)"')


@dataclass(frozen=True)
class CandidateFile:
    lab: str
    entry: FileEntry
    rank: tuple  # the smallest is chosen

    def attempt_order_key(self):
        """The number of the attempt that the file's name or its folder's name contains."""
        _, _, order, number, _, folder, *_ = self.rank
        return order, number, folder


def find_candidate_files(entries, labs, asked):
    """(the CandidateFiles for the labs in `asked`, the .cu files that belong to none of these). Names are read with all
    `labs` of the course, so that the file of another lab is not taken for a file of any name."""
    sources = [entry for entry in entries if entry.is_cu_file()]
    found, unnamed, left = [], [], []
    for entry in sources:
        named = names.match_lab_in_file_name(entry.parts[-1], labs)
        if named and named.lab not in asked:
            left.append(entry)
        elif named:
            found.append(CandidateFile(named.lab, entry, _candidate_sort_key(entry, named)))
        else:
            unnamed.append(entry)
    in_folders = defaultdict(list)
    for entry in unnamed:
        folders = [of.lab for part in entry.parts[:-1] if (of := names.match_lab_in_file_name(part, labs))]
        in_folders[folders[-1] if folders else ""].append(entry)
    for lab, several in in_folders.items():
        # A file that is not named after a lab is taken if there is no other candidate: the only .cu of a lab's folder,
        # or the only one of all if a single lab is graded.
        alone = len(several) == 1 and (lab in asked or (not lab and len(sources) == len(asked) == 1))
        if alone:
            named = names.LabParsedFromFileName(lab or asked[0], -1 if lab else -2, 0, "")
            found.append(CandidateFile(named.lab, several[0], _candidate_sort_key(several[0], named)))
        else:
            left += several
    return found, left


def _candidate_sort_key(entry, named):
    """A sort key for the order that the module's docstring describes; attempt_10/ precedes attempt_9/."""
    parts = entry.parts
    above = [names.match_lab_in_file_name(part, [named.lab]) for part in parts[:-1]]
    of_lab = bool(above and above[-1] and above[-1].exactness == 2)
    in_labs = of_lab and len(parts) > 2 and parts[-3].casefold() == "labs"
    plain = named.exactness == 2 and named.attempt == 0
    depth = len(parts) - (3 if in_labs else 2 if of_lab else 1)
    return (
        not plain, -named.exactness, -entry.order, -named.attempt, depth, -names.attempt_number_of_folder(parts[:-1]),
        not in_labs, not of_lab, parts[-1] != f"{named.lab}.cu", natural_sort_key("/".join(parts)),
    )  # fmt: skip


def group_candidates_by_lab(found):
    """{lab: its CandidateFiles, the chosen one first}."""
    by_lab = defaultdict(list)
    for candidate in sorted(found, key=lambda each: each.rank):
        by_lab[candidate.lab].append(candidate)
    return dict(by_lab)


def student_headers_for_source(entry, data, entries):
    """{path relative to the .cu's folder: bytes} of the student's own headers: all below that folder, and every other
    file there that they include, as `lab32 grade` reads them; and of the answers to `lab32 ask` beside the .cu."""
    folder = entry.parts[:-1]
    below = {
        each.parts[len(folder) :]: each
        for each in sorted(entries, key=lambda each: each.order)
        if each.parts[: len(folder)] == folder and each is not entry
    }
    found, texts = {}, [((), data)]
    for parts, each in sorted(below.items(), key=lambda each: each[0]):
        if (each.is_header() or parts == (ANSWERS,)) and _can_store_beside_found(found, parts):
            texts.append((parts[:-1], _add_file_bytes_at_path(found, parts, each)))
    while texts:
        beside, text = texts.pop()
        for name in INCLUDE.findall(text):
            path = posixpath.normpath("/".join((*beside, name.decode("utf-8", "surrogateescape"))))
            parts = tuple(path.split("/"))
            if parts in below and path not in found and _can_store_beside_found(found, parts):
                texts.append((parts[:-1], _add_file_bytes_at_path(found, parts, below[parts])))
    return found


def _can_store_beside_found(found, parts):
    """Whether the file can be stored beside those found before: they are fewer than MOST_HEADERS, its name is not too
    long, and no name is that of a file and of a folder."""
    path = "/".join(parts)
    names_fit = all(len(part.encode("utf-8", "surrogateescape")) < 200 and "\0" not in part for part in parts)
    clash = any(path.startswith(other + "/") or other.startswith(path + "/") for other in found)
    return names_fit and len(path) < 1000 and not clash and len(found) < MOST_HEADERS


def _add_file_bytes_at_path(found, parts, entry):
    found["/".join(parts)] = data = entry.read(SOURCE_BYTES + 1)
    return data
