"""The corpus of whole programs: what each must print, and how a run is compared with it.

A program says itself what is expected, in lines that begin with //! behind its first comment:

    //! case ARGS        one run, with these arguments; what follows concerns it (without any: one)
    //! stdin| TEXT      a line of standard input
    //! stdout| TEXT     a line of standard output; all of them, in order
    //! stderr~ TEXT     part of standard error
    //! status: N        the program's exit status (0), under `run`
    //! check: KIND N, … hazards that `check` finds, by kind: memory, race, initialisation, barrier
    //! metric: KERNEL NAME VALUE   what `profile` counts for that kernel's first launch
    //! gpu: undefined   a GPU may print anything else: output is compared on no side
    //! gpu: differs     the simulator says here that it lacks something, and a GPU does not

`python3 corpus.py DIRECTORY [PROGRAM…]` runs it on a GPU: the programs compiled by nvcc, outputs and
statuses compared, and compute-sanitizer's findings counted; it writes DIRECTORY/programs.csv.
"""

import concurrent.futures
import csv
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
KINDS = ("memory", "race", "initialisation", "barrier")


@dataclass
class Case:
    program: str
    arguments: list[str] = field(default_factory=list)
    stdin: str = ""
    stdout: str = ""
    stderr: list[str] = field(default_factory=list)
    status: int = 0
    hazards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    metrics: list[tuple[str, str, float]] = field(default_factory=list)
    gpu: str = "same"

    @property
    def name(self):
        return " ".join([self.program, *self.arguments])

    @property
    def source(self):
        return HERE / f"{self.program}.cu"


def read(path):
    """The cases of one program. Raises ValueError for a line it does not understand."""
    cases, common = [], Case(path.stem)
    for line in path.read_text().splitlines():
        if not line.startswith("//! "):
            continue
        kind, value = re.match(r"//! (case|[a-z]+[|:~])(.*)", line).groups()
        value = value.removeprefix(" ")
        if kind == "case":
            cases.append(Case(path.stem, shlex.split(value)))
            continue
        case = cases[-1] if cases else common
        if kind == "stdin|":
            case.stdin += value + "\n"
        elif kind == "stdout|":
            case.stdout += value + "\n"
        elif kind == "stderr~":
            case.stderr.append(value)
        elif kind == "status:":
            case.status = int(value)
        elif kind == "check:":
            for part in value.split(", "):
                what, count = part.split()
                if what not in KINDS:
                    raise ValueError(f"{path.name}: no kind of hazard: {what}")
                case.hazards[what] = int(count)
        elif kind == "metric:":
            kernel, metric, number = value.split()
            case.metrics.append((kernel, metric, float(number)))
        elif kind == "gpu:" and value in ("undefined", "differs"):
            case.gpu = value
        else:
            raise ValueError(f"{path.name}: not understood: {line}")
    return cases or [common]


def cases():
    return [case for path in sorted(HERE.glob("*.cu")) for case in read(path)]


def execute(command, stdin="", seconds=120):
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=seconds, errors="replace"
    )


def two_at_a_time(function, items):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))


# ---- on a GPU ------------------------------------------------------------------------------------

TOOLS = {"memory": "memcheck", "race": "racecheck", "initialisation": "initcheck",
         "barrier": "synccheck"}  # fmt: skip


def sanitize(program, case, kind):
    """How many findings compute-sanitizer reports, and whether the program outlived it."""
    command = ["compute-sanitizer", "--tool", TOOLS[kind], "--print-limit", "1"]
    if kind == "race":
        command += ["--racecheck-report", "analysis"]
    try:
        run = execute([*command, program, *case.arguments], case.stdin, 40)
    except subprocess.TimeoutExpired:
        return "stands still"
    found = re.search(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+)", run.stdout + run.stderr)
    return found.group(1) if found else "no summary"


def on_gpu(directory, wanted):
    chosen = [case for case in cases() if not wanted or case.program in wanted]

    def build(path):
        program = directory / path.stem
        nvcc = ["nvcc", "-arch=sm_90", "-std=c++17", "-lineinfo", "-o", program, path]
        done = execute(nvcc, seconds=300)
        if done.returncode:
            print(done.stderr[:2000])

    with concurrent.futures.ThreadPoolExecutor(14) as pool:
        list(pool.map(build, sorted({case.source for case in chosen})))
    rows = []
    for case in chosen:
        program = directory / case.program
        try:
            run = execute([program, *case.arguments], case.stdin, 20)
            output, status = run.stdout, run.returncode
        except subprocess.TimeoutExpired:
            output, status = "", "stands still"
        equal = {"same": "equal" if output == case.stdout else "differs"}
        row = {"program": case.program, "arguments": " ".join(case.arguments),
               "stdout": equal.get(case.gpu, case.gpu),
               "status": status, "expected_status": case.status}  # fmt: skip
        if case.gpu == "same" and (output, status) != (case.stdout, case.status):
            print(f"--- {case.name}: status {status}\n{output}--- expected\n{case.stdout}")
        rows.append((case, row))

    def look(item):
        case, row = item
        for kind in KINDS:
            row[f"lab32_{kind}"] = case.hazards[kind]
            row[f"sanitizer_{TOOLS[kind]}"] = sanitize(directory / case.program, case, kind)

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(look, rows))
    with open(directory / "programs.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0][1].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in rows)


if __name__ == "__main__":
    on_gpu(Path(sys.argv[1]).resolve(), sys.argv[2:])
