"""One of N jobs, here or on a node of the cluster. It claims submissions one at a time and grades each in a
process of its own."""

import contextlib
import ctypes
import json
import os
import pickle
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lab32 import results
from lab32.classroom.problem import printable_line
from lab32.classroom.store import GRADED, NOT_GRADED, REFUSED, TRIES, ClassResultStore

MB_PER_FILE, MOST_CACHE_MB = 2, 4000
GRACE = 2  # seconds that a grader has to clean up after SIGTERM
SIGTERM_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)
ENDED = "its job was ended before it was graded (cancelled, preempted, or out of time)"


@dataclass(frozen=True)
class GradingTask:
    slug: str
    key: str  # a hash of content, seed and grader; a record with another key is out of date
    refused: str = ""
    notes: tuple = ()  # sentences for the student below the score report


@dataclass(frozen=True)
class GradingRunPlan:
    """Everything that a job needs. It is pickled in OUT/.class/jobs/plan and therefore has plain values only."""

    out: str
    binary: str
    labs: tuple
    seed: int
    device: str
    rubric: str
    seconds: float  # limit for one submission; the grader has lower limits of its own
    lab_seconds: int  # limit for each lab of a submission; 0: the grader's default
    modelled_times: bool  # report modelled times if the machine has no GPU
    owner: tuple  # (process id, start time) of `lab32 class` if it runs on this machine; else ()
    tasks: tuple


def process_start_time(pid):
    """A process's start time, which tells it from a later process with the same id; "" if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


class ClassRunEnded(Exception):
    """Raised when `lab32 class` has ended or is stopping; its next run grades the current submission anew."""


class JobToldToEnd(Exception):
    """Raised when this job is told to end; the job then releases the submission that it was grading."""


class JobSignalHandlers:
    """Replaces submitit's signal handlers, which ignore SIGTERM."""

    def __init__(self):
        self.last = False  # set when the job's time is nearly over: it then finishes only the current submission
        signal.signal(signal.SIGTERM, self.raise_job_told_to_end)
        signal.signal(signal.SIGUSR2, self.end_after_submission)  # submitit has Slurm send SIGUSR2 90 s before the time limit

    def raise_job_told_to_end(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise JobToldToEnd

    def end_after_submission(self, *_):
        self.last = True


def raise_if_class_run_ended(plan, store):
    if store.is_stop_requested() or (plan.owner and process_start_time(plan.owner[0]) != plan.owner[1]):
        raise ClassRunEnded


def _die_with_parent():
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # Slurm sends SIGUSR2 to every process of the job
    ctypes.CDLL(None).prctl(SIGTERM_ON_PARENTS_DEATH, signal.SIGTERM)


def end_process_group(process):
    """Sends SIGTERM, so that the process can clean up, then SIGKILL to its whole process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + GRACE
    # The process must not be reaped before the second signal, because its id could then be reused.
    while time.monotonic() < end and not os.waitid(
        os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT
    ):
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def compile_cache_mb(plan):
    """The size of the compile cache: room for all submissions of the class, within reason, so that they need not be
    compiled again when the class is graded with a changed rubric."""
    return min(MOST_CACHE_MB, max(400, MB_PER_FILE * len(plan.tasks) * len(plan.labs)))


def run_grader(plan, store, task, command, errors):
    """Runs the grader and returns its exit status; None if it ran out of time."""
    process = subprocess.Popen(
        command, cwd=store.submission_folder(task.slug), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
        env=dict({"LAB32_CACHE_MB": str(compile_cache_mb(plan))} | os.environ, LAB32_THREADS="1"), start_new_session=True,
        preexec_fn=_die_with_parent,  # noqa: PLW1509 (this process has one thread)
    )  # fmt: skip
    end = time.monotonic() + plan.seconds
    try:
        while True:
            try:
                status = process.wait(min(0.5, max(0.0, end - time.monotonic())))
                if status == -signal.SIGTERM:  # scancel signals all processes: ours may come later
                    time.sleep(1)
                return status
            except subprocess.TimeoutExpired:
                if time.monotonic() >= end:
                    return None
            raise_if_class_run_ended(plan, store)
    finally:
        if process.poll() is None:
            end_process_group(process)


def failure_reason(status, seconds, errors, result):
    """The reason why there is no result, in one line; "" if there is a result."""
    if status is None:
        return f"not done after {seconds:g} s"
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the grader was ended by {signal.Signals(-status).name}"
        return f"the grader was ended by signal {-status}"
    if status in (0, 1) and result is not None:
        return ""
    if result is not None:
        for lab in result.labs:
            if lab.status == "not graded":
                return f"{lab.name}: {printable_line(lab.message.partition(chr(10))[0])}"
    lines = [
        line.removeprefix("lab32: ") for line in errors.splitlines() if line.startswith("lab32: ")
    ]
    last = lines[-1] if lines else errors.strip().rpartition("\n")[2]
    return printable_line(last) or f"the grader ended with status {status} and no result"


def result_of_refused_submission(zero_score_result_json, why):
    """A result with 0 points and the reason why the submission was refused."""
    record = json.loads(zero_score_result_json)
    for lab in record["labs"]:
        lab["message"] = f"refused: {why}"
        for test in lab["tests"]:
            test["message"] = lab["message"]
    lines = [f"{lab['lab']}: refused: {why}\n" for lab in record["labs"]]
    return (json.dumps(record, indent=2) + "\n").encode(), "".join(lines).encode()


def without_seed(text, seed):
    """The score report without the seed: all students of the class have the same seed, and with it a student could
    repeat the inputs."""
    told = re.compile(rb"(?:, )?\bseed %d\b" % seed)
    head, line, last = text.rpartition(b"\ntotal ")
    last = told.sub(lambda found: b" " * len(found[0]), last)
    return head + line + re.sub(rb" +(?=\n)", b"", last)


# What the grader says of a file that it does not compile (grader/toolchain/submission.cpp), in short.
ZERO_REASONS = {"it is empty": "empty", "it is not a text file": "not text"}


def reason_for_zero_points(message):
    """The reason why a lab has no points, in a few words taken from the grader's message: `does not compile: line
    12`."""
    first = message.partition("\n")[0]
    for words, short in ZERO_REASONS.items():
        if words in first:
            return short
    if where := re.search(r"^(?P<file>[^\s:(]+)[:(](?P<line>\d+)\b.*\berror\b", message, re.M):
        name = where["file"].rpartition("/")[2]
        return f"does not compile: {'' if name.endswith('.cu') else name + ' '}line {where['line']}"
    return printable_line(first.partition(": ")[2] or first, 100)


def grade_labs_of_submission(plan, store, task):
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=store.incomplete_files_folder()) as scratch:
        json_file, text_file, error_file = (
            Path(scratch, name) for name in ("json", "text", "errors")
        )
        command = [
            plan.binary, "grade", *plan.labs, "--dir", ".", "--allow-missing", "--seed", str(plan.seed),
            "--device", plan.device, "--json", str(json_file), "-o", str(text_file),
        ]  # fmt: skip
        if plan.rubric:
            command += ["--rubric", plan.rubric]
        if not plan.modelled_times:
            command += ["--no-modelled-times"]
        if plan.lab_seconds:
            command += ["--time-limit", str(plan.lab_seconds)]
        with open(error_file, "wb") as errors:
            status = run_grader(plan, store, task, command, errors)
        with open(error_file, "rb") as errors:
            errors.seek(max(0, error_file.stat().st_size - 65536))
            said = errors.read().decode("utf-8", "replace")
        data, text, result = b"", b"", None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            data, text = json_file.read_bytes(), text_file.read_bytes()
            result = results.parse_result(data.decode())
    why = failure_reason(status, plan.seconds, said, result)
    if task.refused and not why:
        data, text = result_of_refused_submission(data, task.refused)
    text = without_seed(text, plan.seed) + "".join(f"\n{note}\n" for note in task.notes).encode("utf-8", "backslashreplace")
    store.write_record(task.slug, make_grading_record(task, store, why, result, time.monotonic() - began), data, text)


def make_grading_record(task, store, why, result=None, seconds=0.0):
    """The record of a submission for OUT. `why` explains why there is no result, and is "" if there is one."""
    return {key: value for key, value in asdict(task).items() if key != "notes"} | {
        "status": NOT_GRADED if why else REFUSED if task.refused else GRADED,
        "reason": why or task.refused,
        "score": 0 if why else result.score,
        "max_score": 0 if why else result.max_score,
        "labs": [] if why else [
            {"lab": lab.name, "status": lab.status, "score": lab.score, "max_score": lab.max_score,
             "why": reason_for_zero_points(lab.message) if lab.status == "error" else "",
             "checks": {test.name: test.score for test in lab.tests}}
            for lab in result.labs
        ],
        "seconds": round(seconds, 3),
        "tries": store.grading_try_count(task.slug),
    }  # fmt: skip


def os_error_text(error):
    """An OSError's file and reason."""
    where = f"{printable_line(error.filename)}: " if error.filename else ""
    return f"{where}{error.strerror or printable_line(error)}"


def current_slurm_job_id():
    """The Slurm job of this process, as squeue writes it; "" outside of Slurm."""
    array, index = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{index}" if array and index else os.environ.get("SLURM_JOB_ID", "")


def run_grading_job(path, index, count):
    signals, plan = JobSignalHandlers(), pickle.loads(Path(path).read_bytes())
    with contextlib.suppress(ClassRunEnded, JobToldToEnd):
        grade_own_share_then_others(plan, ClassResultStore(plan.out), index, count, signals)


def grade_own_share_then_others(plan, store, index, count, signals):
    """Runs job `index` of `count`: it grades its own share of the submissions, then those that other jobs have not
    begun."""
    shares = [plan.tasks[(index + k) % count :: count] for k in range(count)]
    for share, tasks in enumerate(shares):
        for task in tasks:
            raise_if_class_run_ended(plan, store)
            if signals.last:
                return
            with store.claim_submission(task.slug) as mine:
                # Without locks two jobs might grade the same submission, so each keeps to its share.
                if mine is False or (mine is None and share > 0):
                    continue
                if is_already_graded(store, task):
                    continue
                if share > 0 and store.grading_try_count(task.slug):  # another job failed at it
                    continue
                if store.grading_try_count(task.slug) >= TRIES:
                    continue
                store.record_grading_try(task.slug, current_slurm_job_id())
                try:
                    grade_labs_of_submission(plan, store, task)
                except OSError as error:  # no scratch folder, no grader, or too many processes
                    store.write_record(task.slug, make_grading_record(task, store, os_error_text(error)))
                except JobToldToEnd:
                    if not store.is_stop_requested() and not is_already_graded(store, task):
                        store.write_record(task.slug, make_grading_record(task, store, ENDED))
                    raise


def is_already_graded(store, task):
    record = store.valid_record(task.slug, task.key)
    return record and record["status"] != NOT_GRADED
