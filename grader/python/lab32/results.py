"""The GradingResult record of a grading (schema lab32-result/2; grader/report/README.md describes it)."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_type_hints

from lab32 import ROOT, score_report
from lab32.classroom.problem import UserError, printable_line
from lab32.inputs import LARGE, is_number, parse_json, read_text

SCHEMA = "lab32-result/2"
STATUSES = ("passed", "failed", "error", "not run", "not graded")
BINARY = ROOT / "build/lab32"


@dataclass
class CheckResult:
    name: str
    status: str  # passed, failed, not run, error
    score: float
    max_score: float
    bonus: bool = False  # its points count only if the check was run
    message: str = ""
    measured: str = ""
    expected: str = ""
    file: str = ""
    line: int = 0
    seconds: float = 0.0  # duration of the check
    failure: dict | None = None  # why points were lost: kind, setting, subject, ...
    not_run: dict | None = None  # why it was not run: kind, device, ...
    figures: dict = field(default_factory=dict)
    pictures: dict | None = None  # what the launch did, lane by lane, if `grade --pictures` recorded it


@dataclass
class LabResult:
    name: str
    status: str  # passed, failed, error, not graded
    score: float
    max_score: float
    tests: list
    message: str = ""
    seed: int = 0  # seed of the random inputs

    def has_passed(self, check):
        """Whether this check passed. Figures that would answer its question are shown only then."""
        return any(test.name == check and test.status == "passed" for test in self.tests)

    def figures_by_name(self, prefix=""):
        """The figures of all checks of the lab whose names start with `prefix`, under their names without the
        prefix."""
        return {
            name.removeprefix(prefix): value
            for test in self.tests
            for name, value in test.figures.items()
            if name.startswith(prefix)
        }


@dataclass
class GradingResult:
    device: str
    timer: str  # the GPU that measured the times; empty if none did
    seed: int | None  # None for a result of a class, whose seed students do not see
    score: float
    max_score: float
    labs: list

    def lab(self, name):
        for lab in self.labs:
            if lab.name == name:
                return lab
        there = ", ".join(lab.name for lab in self.labs) or "none"
        raise KeyError(f"no lab {name} in this result (there: {there})")

    def _repr_html_(self):
        return score_report.score_report_html(self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(score_report.score_report_text(self))


def _has_type(kind, value):
    if kind is float:
        return is_number(value)
    if kind is int:
        return type(value) is int and value >= 0
    return isinstance(value, kind)


def _construct_checked(cls, values, place):
    """cls(**values), after checking that each value has the type of its field; else raises ValueError."""
    hints = get_type_hints(cls)
    if not isinstance(values, dict):
        raise ValueError(f"{place} is not an object")
    for name, value in values.items():
        known = name != "status" or value in STATUSES
        if name not in hints or not known or not _has_type(hints[name], value):
            raise ValueError(f"{place}: `{printable_line(name, 40)}` is not what a result has")
    try:
        return cls(**values)
    except TypeError:
        lacking = [name for name, each in cls.__dataclass_fields__.items() if each.default is each.default_factory and name not in values]
        raise ValueError(f"{place} lacks {', '.join(lacking)}") from None


def parse_result(text, source="the result"):
    try:
        record = parse_json(text, source)
    except UserError as problem:
        raise ValueError(f"{problem}; write it with --format json") from None
    try:
        return _result_from_record(record)
    except ValueError as error:
        raise ValueError(f"{printable_line(source)}: not a result of lab32: {error}") from None


def _result_from_record(record):
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        there = record.get("schema") if isinstance(record, dict) else None
        raise ValueError(f"it has schema {printable_line(there, 40)}, this reads {SCHEMA}")
    if not isinstance(record.get("labs"), list):
        raise ValueError("`labs` is not a list")
    labs = []
    for number, lab in enumerate(record["labs"], 1):
        place = f"lab {number}"
        if not isinstance(lab, dict) or not isinstance(lab.get("tests"), list):
            raise ValueError(f"{place} has no list of tests")
        tests = [_construct_checked(CheckResult, test, f"{place}, test {at}") for at, test in enumerate(lab["tests"], 1)]
        values = {key: lab[key] for key in ("status", "score", "max_score", "message") if key in lab}
        labs.append(_construct_checked(LabResult, values | {"name": lab.get("lab"), "seed": record.get("seed"), "tests": tests}, place))
    values = {key: record[key] for key in ("device", "timer", "seed", "score", "max_score") if key in record}
    return _construct_checked(GradingResult, values | {"labs": labs}, "the result")


def load_result(path):
    try:
        return parse_result(read_text(path, LARGE), source=path)
    except UserError as problem:
        raise ValueError(str(problem)) from None


def nearest_labs_folder():
    """labs/ of the current folder or of the nearest folder above it that has one, as for `lab32 grade`."""
    here = Path.cwd()
    return next((each / "labs" for each in (here, *here.parents) if (each / "labs").is_dir()), Path("labs"))


def student_labs_root(lab):
    """The folder of the LAB/LAB.cu files: LAB32_DIR if set; for a notebook in LAB/, the folder above; otherwise
    the project's labs/."""
    named = os.environ.get("LAB32_DIR")
    around = Path.cwd().parent
    if not named and (around / lab / f"{lab}.cu").is_file():
        return around
    return ROOT / (named or "labs")


def grade(lab, directory=None, binary=BINARY, more=()):
    """Grades one lab now. A submission that lost points (status 1) gives a result; other failures raise an error."""
    return parse_result(grade_to_json_text(lab, directory, binary, more), source="what lab32 grade printed")


def grade_to_json_text(lab, directory=None, binary=BINARY, more=()):
    """Grades one lab like grade(), but returns the JSON text."""
    folder = ROOT / directory if directory else student_labs_root(lab)
    if folder.is_relative_to(ROOT):
        folder = folder.relative_to(ROOT)  # messages show paths relative to the project
    command = [str(binary), "grade", lab, "--dir", str(folder), "--format", "json", *more]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        raise RuntimeError(f"there is no {binary}: run `make build` first") from None
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}")
    return done.stdout
