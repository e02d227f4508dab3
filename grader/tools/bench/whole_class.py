"""Grades a synthetic class with `lab32 class`, measures its time and memory, then grades each file alone and
compares the results.

.venv/bin/python grader/tools/bench/whole_class.py corpus --students 300     compares each score with that of the file graded alone
.venv/bin/python grader/tools/bench/whole_class.py solved --students 20      submissions per minute, all solved
.venv/bin/python grader/tools/bench/whole_class.py mix --students 40         submissions per minute, a realistic mix

corpus: each student's file for a lab is drawn from grader/labs/*/submissions, the skeletons and the solutions.
Each drawn file is then graded alone in a process of its own, and every word and number of its lab's result,
except seconds and modelled times, is compared with the results of all students who handed it in.
solved, mix: no two students' files are equal, so that no compilation is shared.
The cache of compiled files is empty at the start in all three.
--kills 10: at ten random moments, SIGKILL ends the class's process, one of its jobs, a grader or a compiler. A
class that ended is started again. Results from before must not change.
"""

import argparse
import concurrent.futures
import contextlib
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from lab32 import ROOT

sys.path[:0] = [str(ROOT / "grader/tests/python"), str(ROOT / "grader/tests/python/classroom")]
from synthetic_class import LABS, corpus, make  # noqa: E402

SEED = 32  # seed of the random inputs
# The kinds of a hundred files; a student hands in no file for the remaining ones.
MIX = {"solution": 30, "correct": 10, "wrong": 35, "skeleton": 10, "broken": 5}
BROKEN = "this is no CUDA\n"


def texts_by_submission_kind(lab):
    """{kind: [text]}; cheats and faults of the corpus are too rare in real classes to be part of the mix."""
    kinds = {"broken": [BROKEN]}
    for name, text in corpus(lab):
        kinds.setdefault(name.partition("/")[0], []).append(text)
    return kinds


def random_texts_by_lab_of_students(options):
    """[{lab: text}], one per student."""
    draw = random.Random(options.seed)
    if options.kind == "corpus":
        every = {lab: [BROKEN, *(text for _, text in corpus(lab))] for lab in options.labs}
        return [{lab: draw.choice(every[lab]) for lab in every} for _ in range(options.students)]
    every = {lab: texts_by_submission_kind(lab) for lab in options.labs}
    out = []
    for number in range(options.students):
        # The number changes code rather than a comment, so that the compiled files differ, too.
        mark, files = f"\n__device__ int student_{number};\n", {}
        for lab, kinds in every.items():
            roll, kind = draw.uniform(0, 100), "solution"
            if options.kind == "mix":
                for kind, share in MIX.items():  # noqa: B007
                    roll -= share
                    if roll < 0:
                        break
                else:
                    continue
            files[lab] = draw.choice(kinds[kind]) + mark
        out.append(files or {options.labs[0]: BROKEN})
    return out


def make_symlinked_checkout(folder):
    """A second checkout, made of links, whose cache is below XDG_CACHE_HOME, as for an installed lab32."""
    tree = folder / "tree"
    (tree / "build").mkdir(parents=True)
    for path in [*ROOT.iterdir(), *(ROOT / "build").iterdir()]:
        target = tree / path.relative_to(ROOT)
        if path.name not in ("Makefile", "build", "cache", ".git"):
            target.symlink_to(path)
    return tree


def memory_of_tree_and_largest_job(process):
    """Bytes of (all processes, the largest job with its children); shared pages are divided among their users."""

    def proportional_set_bytes(one):
        try:
            text = Path(f"/proc/{one.pid}/smaps_rollup").read_text()
            return int(text.partition("\nPss:")[2].split()[0]) << 10
        except (OSError, IndexError):
            return 0

    try:
        children = process.children(recursive=True)
        jobs = [[job, *job.children(recursive=True)] for job in process.children()]
        held = {one.pid: proportional_set_bytes(one) for one in [process, *children]}
        return sum(held.values()), max((sum(held.get(one.pid, 0) for one in job) for job in jobs), default=0)
    except psutil.NoSuchProcess:
        return 0, 0


class MemorySampler:
    """Measures the memory of the class now and then. A measurement reads every page of every process and takes a
    twentieth of a second of the class's time."""

    EVERY = 2  # seconds

    def __init__(self):
        self.most, self.largest_job, self.next = 0, 0, 0

    def act_if_due(self, process):
        if time.monotonic() < self.next:
            return
        everything, job = memory_of_tree_and_largest_job(process)
        self.most, self.largest_job = max(self.most, everything), max(self.largest_job, job)
        self.next = time.monotonic() + self.EVERY


class RandomProcessKiller:
    """Kills one of the class's processes now and then."""

    def __init__(self, kills, out):
        self.left, self.records, self.draw = kills, out / ".class/records", random.Random(SEED)
        self.finished = {}  # {record: time of writing}
        self.plan_next_kill()

    def plan_next_kill(self):
        self.next = time.monotonic() + self.draw.uniform(1, 12)

    def act_if_due(self, process):
        if not self.left or time.monotonic() < self.next:
            return
        for path in self.records.glob("*.json"):
            with contextlib.suppress(OSError):
                if json.loads(path.read_text())["status"] != "not graded":
                    self.finished.setdefault(path.name, path.stat().st_mtime_ns)
        with contextlib.suppress(psutil.NoSuchProcess):
            victim = process
            if self.draw.random() > 0.3:
                victim = self.draw.choice(process.children(recursive=True) or [process])
            name = " ".join(victim.cmdline()[:3])[:70]
            victim.kill()
            self.left -= 1
            print(f"killed: {name}; {len(self.finished)} were finished", flush=True)
        self.plan_next_kill()

    def finished_records_rewritten(self):
        """Lists the records from before a kill that were written again."""
        return [name for name, written in self.finished.items()
                if (self.records / name).stat().st_mtime_ns != written]  # fmt: skip


def grade_class_with_process_kills(options, folder, environment):
    command = [ROOT / "build/lab32", "class", folder / "in", "-o", folder / "out", "--labs", ",".join(options.labs),
               "--seed", str(SEED), "--jobs", str(options.jobs)]  # fmt: skip
    began, scales = time.monotonic(), MemorySampler()
    process, killer = psutil.Popen(command, env=environment), RandomProcessKiller(options.kills, folder / "out")
    while process.poll() is None or killer.left or process.returncode == -signal.SIGKILL:
        if process.poll() is not None:
            # A submission whose compiler or grader was killed counts as ungraded and is retried.
            process = psutil.Popen(command, env=environment)
        killer.act_if_due(process)
        scales.act_if_due(process)
        time.sleep(0.1)
    if options.kills and process.returncode == 2:  # the second try of a submission was killed, too
        process = psutil.Popen(command, env=environment)
        process.wait()
    if again := killer.finished_records_rewritten():
        sys.exit(f"graded again: {', '.join(again)}")
    seconds = time.monotonic() - began
    if process.returncode != 0:
        sys.exit(f"lab32 class ended with status {process.returncode}")
    spent = os.times()
    bytes_of = {name: sum(f.stat().st_size for f in (folder / name).rglob("*") if f.is_file()) for name in ("out", "cache")}
    print(f"{options.students} submissions of {len(options.labs)} labs, {options.jobs} at a time: {seconds:.0f} s,"
          f" {60 * options.students / seconds:.1f} a minute; {spent.children_user + spent.children_system:.0f} s of CPU")
    print(f"memory: {scales.most / 1e6:.0f} MB at most; the largest job with its children"
          f" {scales.largest_job / 1e6:.0f} MB")  # fmt: skip
    print(f"disk: {bytes_of['out'] / 1e6:.1f} MB of results, {bytes_of['cache'] / 1e6:.1f} MB of cache", flush=True)


def print_slowest_checks(folder, most=6):
    """Prints the checks that took the most time over all students, and the longest for one student."""
    seconds = {}
    for path in (folder / "out/results").iterdir():
        for lab in json.loads(path.read_text())["labs"]:
            for test in lab["tests"]:
                seconds.setdefault(f"{lab['lab']} {test['name']}", []).append(test["seconds"])
    for name, each in sorted(seconds.items(), key=lambda item: -sum(item[1]))[:most]:
        print(f"  {sum(each):6.1f} s, {max(each):5.1f} s at most: {name}")


def comparable_result(lab):
    """Returns a lab's result without seconds and modelled times. Modelled times affect no score; they depend slightly on
    the addresses of arrays in device memory, and so on the labs before this one."""
    lab = json.loads(json.dumps(lab))
    for test in lab["tests"]:
        del test["seconds"]
        test["figures"] = {name: value for name, value in test["figures"].items() if "modelled" not in name}
        if test["status"] == "not run":
            del test["measured"], test["message"], test["not_run"]
    return lab


def grade_alone(folder, lab, text, environment):
    """The result of one file that is graded by itself."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work, lab)
        place.mkdir()
        (place / f"{lab}.cu").write_text(text)
        command = [ROOT / "build/lab32", "grade", lab, "--dir", ".", "--seed", str(SEED), "--device", "sim",
                   "--no-modelled-times", "--json", "result", "-o", "text"]  # fmt: skip
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"alone: {done.stderr}")
        return comparable_result(json.loads(Path(work, "result").read_text())["labs"][0])


def count_results_differing_alone(options, folder, environment):
    """Returns the number of files whose result differs when they are graded alone."""
    holders = {}
    for path in sorted((folder / "out/submissions").glob("*/*/*.cu")):
        holders.setdefault((path.stem, path.read_text()), []).append(path.parts[-3])
    results = {}
    for path in (folder / "out/results").iterdir():
        record = json.loads(path.read_text())
        results[path.stem] = {lab["lab"]: comparable_result(lab) for lab in record["labs"]}
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as each:
        by_itself = list(each.map(lambda held: grade_alone(folder, *held, environment), holders))
    for ((lab, _), students), expected in zip(holders.items(), by_itself, strict=True):
        others = [name for name in students if results[name][lab] != expected]
        wrong += len(others)
        for name in others:
            print(f"{name}, {lab}: {results[name][lab]['score']:g} in the class, {expected['score']:g} alone")
    with open(folder / "out/scores.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        counted = sum(lab["score"] for lab in results[row["files"]].values())
        if row["status"] != "graded" or abs(float(row["score"]) - counted) > 1e-6:
            wrong += 1
            print(f"{row['name']}: {row['status']}, {row['score']} in scores.csv, {counted:g} in the result")
    if len(rows) != options.students:
        sys.exit(f"{len(rows)} rows for {options.students} students")
    handed_in = sum(map(len, holders.values()))
    print(f"{handed_in} files, {len(holders)} of them distinct: {handed_in - wrong} have the same result when graded alone")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("corpus", "solved", "mix"))
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--labs", default=",".join(LABS), help="A,B (all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="(the cores)")
    parser.add_argument("--seed", type=int, default=1, help="seed for drawing files (1)")
    parser.add_argument("--kills", type=int, default=0, help="(0)")
    options = parser.parse_args()
    options.labs = options.labs.split(",")
    with tempfile.TemporaryDirectory(prefix="lab32-whole-class-") as made:
        folder = Path(made)
        environment = dict(os.environ, LAB32_ROOT=str(make_symlinked_checkout(folder)), XDG_CACHE_HOME=str(folder / "cache"))
        make(folder / "in", random_texts_by_lab_of_students(options))
        grade_class_with_process_kills(options, folder, environment)
        print_slowest_checks(folder)
        sys.exit(1 if options.kind == "corpus" and count_results_differing_alone(options, folder, environment) else 0)


if __name__ == "__main__":
    main()
