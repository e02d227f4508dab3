"""The Result record of a grading (schema lab32-result/2; grader/report/README.md describes it)."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from lab32 import ROOT, score_report

SCHEMA = "lab32-result/2"
BINARY = ROOT / "build/lab32"


@dataclass
class Test:
    name: str
    status: str  # passed, failed, not run, error
    score: float
    max_score: float
    bonus: bool = False  # counts only if it was run
    message: str = ""
    measured: str = ""
    expected: str = ""
    file: str = ""
    line: int = 0
    seconds: float = 0.0  # duration of the check
    failure: dict | None = None  # why points were lost: kind, setting, subject, ...
    not_run: dict | None = None  # why it was not run: kind, device, ...
    figures: dict = field(default_factory=dict)
    pictures: dict | None = None  # the launch, lane by lane, with grade --pictures


@dataclass
class Lab:
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

    def figures(self, prefix=""):
        """All figures of the lab's tests whose names start with `prefix`, without the prefix."""
        return {
            name.removeprefix(prefix): value
            for test in self.tests
            for name, value in test.figures.items()
            if name.startswith(prefix)
        }


@dataclass
class Result:
    device: str
    timer: str  # the GPU that measured the times; empty if none did
    seed: int | None  # None: a class's, which students do not see
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
        return score_report.html(self)

    def _repr_pretty_(self, printer, cycle):
        printer.text(score_report.text(self))


def parse(text, source="the result"):
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{source} is not JSON ({error}); write it with --format json") from None
    if record.get("schema") != SCHEMA:
        raise ValueError(f"{source} has schema {record.get('schema')}, this reads {SCHEMA}")
    labs = [
        Lab(
            name=lab["lab"],
            status=lab["status"],
            score=lab["score"],
            max_score=lab["max_score"],
            message=lab.get("message", ""),
            seed=record["seed"],
            tests=[Test(**test) for test in lab["tests"]],
        )
        for lab in record["labs"]
    ]
    keys = ("device", "timer", "seed", "score", "max_score")
    return Result(**{key: record[key] for key in keys}, labs=labs)


def load(path):
    return parse(Path(path).read_text(), source=path)


def submissions(lab):
    """The folder of the LAB/LAB.cu files: LAB32_DIR if set; for a notebook in LAB/, the folder above; otherwise
    the project's labs/."""
    named = os.environ.get("LAB32_DIR")
    around = Path.cwd().parent
    if not named and (around / lab / f"{lab}.cu").is_file():
        return around
    return ROOT / (named or "labs")


def grade(lab, directory=None, binary=BINARY, more=()):
    """Grades one lab now. A submission that lost points (status 1) gives a result; other failures raise an error."""
    return parse(grade_json(lab, directory, binary, more), source="what lab32 grade printed")


def grade_json(lab, directory=None, binary=BINARY, more=()):
    """Like grade(), but returns the JSON text."""
    folder = ROOT / directory if directory else submissions(lab)
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
