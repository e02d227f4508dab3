"""The labs: one for each data/limits/<lab>.toml, whose `order`, `subject` and `level` say where it
stands in the course. A lab's own Python, grader/labs/<lab>/*.py, is lab32.labs.<lab>.*:
`notebook` for its report, `figures` and `tables` for its handout."""

import importlib
import tomllib
from dataclasses import dataclass
from functools import cache

from lab32 import ROOT

FOLDER = ROOT / "grader/labs"
__path__ = [str(FOLDER)]


@dataclass(frozen=True)
class Lab:
    name: str
    order: int
    subject: str
    level: str  # "core": owes all that the course has; "extra": owes its checks alone


@cache
def all_labs():
    """Every Lab, in the course's order."""
    labs = []
    for path in (ROOT / "data/limits").glob("*.toml"):
        rubric = tomllib.loads(path.read_text())
        place = rubric.get("order", 1000), rubric.get("subject", ""), rubric.get("level", "extra")
        labs.append(Lab(path.stem, *place))
    return sorted(labs, key=lambda lab: (lab.order, lab.name))


def names(level=None):
    """Their names, in the course's order; only those of a level, where one is given."""
    return [lab.name for lab in all_labs() if level in (None, lab.level)]


def module(lab, name):
    """grader/labs/<lab>/<name>.py, imported; None where the lab has none."""
    if not (FOLDER / lab / f"{name}.py").exists():
        return None
    return importlib.import_module(f"lab32.labs.{lab}.{name}")


def modules(name):
    """{lab: grader/labs/<lab>/<name>.py}, imported, of the labs that have one."""
    return {lab: found for lab in names() if (found := module(lab, name))}


def own(lab, name, default):
    """What a lab's notebook.py calls `name`; `default` where it has none."""
    return getattr(module(lab, "notebook"), name, default)
