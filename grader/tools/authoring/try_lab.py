"""lab32 try-lab LAB: checks a lab before students get it, on one screen and without a GPU.

The solution must have full marks and the skeleton fewer, each submission the verdicts that its first lines name.
Each declared `ideal` must be what the solution takes, within a few per cent, and less than the skeleton takes; also
at a sixteenth of `n` and at 16 times `n`, since students can be graded at any size. Some mutants of the solution
are graded, too, and each must lose points.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import tomlkit

from authoring.splice import replace_definitions
from lab32 import ROOT
from mutants import mutants

SEED = 20
LEAST_SHARE = 0.95  # of an `ideal`; if the solution takes less, the ideal is too lax
SCALES = {"n / 16": 1 / 16, "n": 1, "16 n": 16}
MOST_ELEMENTS = 1 << 22  # of a counted launch: larger ones take longer than the whole rest
VERDICT = re.compile(r'// verdict: ([^|]+) \| ([^|]+) \| "(.*)"')
# The files that a lab with level = "core" has besides its checks.
CORE_PARTS = ["handouts/{}-notes.md", "handouts/zh/{}.md", "labs/{}/report.ipynb", "data/measured/h200-{}.csv",
              "grader/labs/{}/golden/solution.txt", "grader/labs/{}/notebook.py"]  # fmt: skip
LEAST_SUBMISSIONS = 6


@dataclass
class LabAuthoringCheckReport:
    lines: list = field(default_factory=list)
    faults: list = field(default_factory=list)

    def add(self, what, summary, faults=()):
        """Adds a line to the screen, with the faults below it."""
        self.lines.append(f"  {what:<12} {summary}")
        self.lines += [f"    ! {fault}" for fault in faults]
        self.faults += faults


class GradableLab:
    def __init__(self, name, binary, folder, root):
        self.name, self.binary, self.folder, self.root = name, binary, folder, root
        self.rubric = tomllib.loads((root / f"data/limits/{name}.toml").read_text())
        self.rows = {key: row for key, row in self.rubric.items() if isinstance(row, dict) and "check" in row}
        self.solution = self.source_file("solutions").read_text()

    def source_file(self, top):
        return self.root / f"{top}/{self.name}/{self.name}.cu"

    def grade(self, text, rubric=None):
        """Grades a submission; returns the lab's part of the result."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            (Path(place) / self.name).mkdir()
            (Path(place) / self.name / f"{self.name}.cu").write_text(text)
            command = [self.binary, "grade", self.name, "--dir", place, "--device", "sim", "--seed", str(SEED),
                       "--no-modelled-times", "--format", "json"]  # fmt: skip
            command += ["--rubric", str(rubric)] if rubric else []
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode > 1:
            raise SystemExit(done.stderr.strip())
        return json.loads(done.stdout)["labs"][0]

    def submissions(self, kind):
        return sorted((self.root / f"grader/labs/{self.name}/submissions/{kind}").glob("*.cu"))

    def size_scales(self):
        """The sizes at which ideals are compared: only those of the rubric if none is declared."""
        return SCALES if any("counter" in row for row in self.rows.values()) else {"n": 1}

    def write_rubric_at_scale(self, scale):
        """Makes a folder with the rubric, in which `n` or the elements of each declared counter are `scale` times as many."""
        text = tomlkit.parse((self.root / f"data/limits/{self.name}.toml").read_text())
        extents = self.rubric.get("extents", ["n"])
        for key, row in self.rows.items():
            if "counter" not in row:
                continue
            size = {name: row.get(name, self.rubric.get(name)) for name in extents}
            factor = min(scale, max(1, MOST_ELEMENTS / math.prod(size.values())))
            for name, number in size.items():
                text[key][name] = int(number * factor ** (1 / len(extents)))
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / f"{self.name}.toml").write_text(tomlkit.dumps(text))
        return folder


def quantity(number, noun):
    return f"{number} {noun}" + ("" if number == 1 else "s")


def score_text(result):
    return f"{result['score']:g} of {result['max_score']:g}"


def failed_check_messages(result):
    return [f"{test['name']}: {test['message'].splitlines()[0] if test.get('message') else test['status']}"
            for test in result["tests"] if test["status"] not in ("passed", "not run")]  # fmt: skip


def check_solution_score(lab, found, solution):
    faults = failed_check_messages(solution) or ([solution["message"]] if solution.get("message") else [])
    found.add("solution", score_text(solution), faults if solution["score"] < solution["max_score"] else [])


def check_skeleton_scores_partially(lab, found, skeleton):
    faults = []
    if skeleton["status"] in ("error", "not graded"):
        faults.append(f"the skeleton is not graded: {skeleton['message'].splitlines()[0]}")
    elif skeleton["score"] >= skeleton["max_score"]:
        faults.append("the untouched skeleton has full marks")
    elif skeleton["score"] == 0:
        faults.append("the untouched skeleton has no points: does it state a first step?")
    found.add("skeleton", score_text(skeleton), faults)


def verdict_differences(file, result):
    """Lists the differences between the verdicts and those that the file's first lines name."""
    named = {m[1]: (m[2], m[3].replace('\\"', '"')) for m in VERDICT.finditer(file.read_text())}
    tests = {test["name"]: test for test in result["tests"]}
    tests["lab"] = {"status": result["status"], "message": result.get("message", "")}
    faults = []
    for check, (status, words) in named.items():
        test = tests.get(check)
        if not test or test["status"] != status or words not in test.get("message", ""):
            is_now = f"it is {test['status']}" if test else "there is no such check"
            faults.append(f"{file.parent.name}/{file.name}: {check} | {status} | \"{words}\", but {is_now}")
    for check, test in tests.items():
        if check != "lab" and check not in named and test["status"] not in ("passed", "not run") and "lab" not in named:
            faults.append(f"{file.parent.name}/{file.name}: {check} is {test['status']}, which no line names")
    return faults


def check_submission_verdicts(lab, found, pool, most):
    """Grades all submissions, or `most` of them, evenly spaced: `make test-slow` grades all of ours."""
    files = {kind: lab.submissions(kind) for kind in ("correct", "wrong", "cheat")}
    every = [file for some in files.values() for file in some]
    counts = ", ".join(f"{len(some)} {kind}" for kind, some in files.items())
    if most and len(every) > most:
        every = [every[i * len(every) // most] for i in range(most)]
        counts += f"; {most} graded (--submissions)"
    texts = [replace_definitions(lab.solution, file.read_text().replace("@ROOT@", str(ROOT))) for file in every]
    faults = []
    for file, result in zip(every, pool.map(lab.grade, texts), strict=True):
        faults += verdict_differences(file, result)
        if file.parent.name == "wrong" and result["score"] >= result["max_score"]:
            faults.append(f"wrong/{file.name} has full marks")
    if not files["wrong"]:
        faults.append("there is no wrong submission: nothing shows that a mistake loses points")
    found.add("submissions", counts + ("" if faults else ": all as their first lines say"), faults)


def counters_of_checks(result):
    """Returns {check: [(counter, reached, ideal)]} for the checks of a result that have figures."""
    found = {}
    for test in result["tests"]:
        figures = test.get("figures", {})
        found[test["name"]] = [
            (name, figures[name], figures[f"ideal_{name}"]) for name in figures if f"ideal_{name}" in figures
        ]
    return found


def ideal_faults(lab, scale, solution, skeleton):
    reached, untouched = counters_of_checks(solution), {test["name"]: test for test in skeleton["tests"]}
    faults = []
    for key, row in lab.rows.items():
        if "counter" not in row:
            continue
        for counter, got, ideal in reached[row["check"]]:
            if counter == "wavefronts" and "conflicts" in row:
                continue  # shown, but another check's counter
            if got > ideal:
                faults.append(f"[{key}] at {scale}: the solution takes {got:,.0f} {counter}, the ideal is {ideal:,.0f}")
            elif got < LEAST_SHARE * ideal:
                faults.append(
                    f"[{key}] at {scale}: the ideal, {ideal:,.0f} {counter}, is lax: the solution takes {got:,.0f}"
                )
        if untouched[row["check"]]["status"] == "passed":
            faults.append(f"[{key}] at {scale}: the untouched skeleton has its full marks")
    return faults


def check_declared_ideals(lab, found, graded):
    if list(graded) == ["n"]:
        found.add("ideals", "no counter is declared")
        return
    counters = [row for row in lab.rows.values() if "counter" in row]
    faults = [fault for scale, both in graded.items() for fault in ideal_faults(lab, scale, *both)]
    found.add("ideals", f"{quantity(len(counters), 'counter')} at {', '.join(graded)}"
              + ("" if faults else ": the solution reaches each, the skeleton none"), faults)  # fmt: skip


def check_mutants_lose_points(lab, found, pool, count):
    explained = mutants.explained_mutants()
    chosen = mutants.sample_by_kind(list(mutants.mutants_of(lab.name, lab.solution)), count, SEED)
    results = list(pool.map(lambda mutant: lab.grade(mutant.mutated_source(lab.solution)), chosen))
    survivors = [
        mutant for mutant, result in zip(chosen, results, strict=True)
        if result["status"] != "error" and result["score"] >= result["max_score"] and mutant.key() not in explained
    ]  # fmt: skip
    found.add("mutants", f"{len(chosen) - len(survivors)} of {len(chosen)} lose points")
    for mutant in survivors:  # the mutant may be as good as the solution: the author decides
        found.lines.append(f"    ? line {mutant.line} keeps all points: {mutant.new.strip()}")


def check_rows_have_hints(lab, found):
    # The counter of requests needs no `idea`, because its message is complete without one.
    without = [f"[{key}] has no `idea`" for key, row in lab.rows.items()
               if row.get("counter", "requests") != "requests" and not row.get("idea")]  # fmt: skip
    for key, row in lab.rows.items():
        for name, question in row.get("questions", {}).items():
            if not question["hint"]:
                without.append(f"[{key}] asks {name} without a hint")
    found.add("hints", "each message has one" if not without else "", without)


def missing_lab_definition_parts(lab):
    missing = [part.format(lab.name) for part in CORE_PARTS if not (lab.root / part.format(lab.name)).exists()]
    if not any("bonus" in row for row in lab.rows.values()):
        missing.append("a timing check")
    missing += [
        quantity(LEAST_SUBMISSIONS - len(lab.submissions(kind)), f"more {kind} submission")
        for kind in ("correct", "wrong") if len(lab.submissions(kind)) < LEAST_SUBMISSIONS
    ]  # fmt: skip
    return missing


def run_lab_acceptance_test(name, binary, count, root=None, submissions=0):
    found = LabAuthoringCheckReport()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        lab = GradableLab(name, binary, folder, root or ROOT)
        skeleton = lab.source_file("labs").read_text()
        rubrics = {scale: lab.write_rubric_at_scale(factor) for scale, factor in lab.size_scales().items()}
        waiting = {
            scale: [pool.submit(lab.grade, text, rubric) for text in (lab.solution, skeleton)]
            for scale, rubric in rubrics.items()
        }
        graded = {scale: [one.result() for one in both] for scale, both in waiting.items()}
        check_solution_score(lab, found, graded["n"][0])
        check_skeleton_scores_partially(lab, found, graded["n"][1])
        check_submission_verdicts(lab, found, pool, submissions)
        check_declared_ideals(lab, found, graded)
        if count:
            check_mutants_lose_points(lab, found, pool, count)
        check_rows_have_hints(lab, found)
    level = lab.rubric.get("level", "extra")
    head = f"{name}: level {level}, {lab.rubric['max_score']} points, {len(lab.rows)} checks"
    missing = missing_lab_definition_parts(lab)
    if level == "core" and missing:
        found.faults += missing
    tail = f"  for core     {'missing: ' + ', '.join(missing) if missing else 'all parts are there'}"
    return [head, *found.lines, *textwrap.wrap(tail, 100, subsequent_indent=" " * 15)], found.faults


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="lab32 try-lab", description=__doc__.splitlines()[0].split(": ")[1])
    parser.add_argument("lab")
    parser.add_argument("--mutants", type=int, default=12, help="how many mutants of the solution to grade (12)")
    parser.add_argument("--submissions", type=int, default=20, help="how many submissions to grade (20; 0: all)")
    parser.add_argument("--labs", metavar="DIR", type=Path, help="the folder of labs of your own that has this one")
    parser.add_argument("--binary", default=str(ROOT / "build/lab32"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    root = options.labs or ROOT
    if options.labs:
        os.environ["LAB32_LABS"] = str(root.resolve())
    for place in ("data/limits/{}.toml", "labs/{0}/{0}.cu", "solutions/{0}/{0}.cu"):
        if not (root / place.format(options.lab)).exists():
            print(f"lab32 try-lab: {place.format(options.lab)} does not exist; `lab32 new-lab` makes a lab",
                  file=sys.stderr)  # fmt: skip
            return 2
    lines, faults = run_lab_acceptance_test(options.lab, options.binary, options.mutants, root, options.submissions)
    print("\n".join(lines))
    print(quantity(len(faults), "fault") if faults else "no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
