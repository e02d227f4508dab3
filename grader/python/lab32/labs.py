"""Lists the labs: one per data/limits/<lab>.toml, whose `order`, `subject` and `level` place it in the course.
A lab's own Python files, grader/labs/<lab>/*.py, are imported as lab32.labs.<lab>.*: `notebook` for its
report, `figures` and `tables` for its handout."""

import importlib
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab32 import ROOT

FOLDER = ROOT / "grader/labs"
__path__ = [str(FOLDER)]


@dataclass(frozen=True)
class Lab:
    name: str
    order: int
    subject: str
    level: str  # "core": it has all parts of the course; "extra": it needs checks only


def rubric_path_by_lab(folder=""):
    """{lab: its rubric} of a folder of rubrics; without one, those of lab32 and of the labs that LAB32_LABS adds."""
    roots = [ROOT, *filter(None, [os.environ.get("LAB32_LABS")])]
    folders = [Path(folder)] if folder else [Path(root, "data/limits") for root in roots]
    return {path.stem: path for each in folders for path in sorted(each.glob("*.toml"))}


@cache
def all_lab_descriptions():
    """Every Lab in the order of the course."""
    labs = []
    for path in rubric_path_by_lab().values():
        rubric = tomllib.loads(path.read_text())
        place = rubric.get("order", 1000), rubric.get("subject", ""), rubric.get("level", "extra")
        labs.append(Lab(path.stem, *place))
    return sorted(labs, key=lambda lab: (lab.order, lab.name))


def lab_names(level=None):
    """The names of the labs in the order of the course; of those of one level if it is given."""
    return [lab.name for lab in all_lab_descriptions() if level in (None, lab.level)]


def lab_module(lab, name):
    """The module grader/labs/<lab>/<name>.py, or None if the lab has none."""
    if not (FOLDER / lab / f"{name}.py").exists():
        return None
    return importlib.import_module(f"lab32.labs.{lab}.{name}")


def modules_by_lab(name):
    """{lab: module grader/labs/<lab>/<name>.py} for the labs that have one."""
    return {lab: found for lab in lab_names() if (found := lab_module(lab, name))}


def lab_specific_pictures(lab, test, device):
    """The pictures of a check that the lab's pictures.py draws by the check's figures; most labs have none."""
    return getattr(lab_module(lab, "pictures"), "pictures_of_check_result", lambda *_: [])(test, device)


def notebook_attribute(lab, name, default):
    """The attribute `name` of a lab's notebook.py, or `default`."""
    return getattr(lab_module(lab, "notebook"), name, default)
