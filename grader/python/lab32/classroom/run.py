"""Finds the submissions that are not graded yet and has submitit's jobs grade them, here or on Slurm."""

import contextlib
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import submitit

from lab32 import ROOT, labs
from lab32.classroom import slurm, worker
from lab32.classroom.problem import UserError, printable_line
from lab32.classroom.store import NOT_GRADED, TRIES
from lab32.inputs import read_bytes

PROGRAM_BYTES = 1 << 30
POLL = 0.1
POLL_SHARED = 1
IN_VAIN = 3  # consecutive rounds of jobs that begin no submission, after which the run gives up
STOP = 10  # seconds that jobs have to stop
# The files besides the program itself on which a score depends.
VERSION = ("data/devices/*.toml", "data/measured/**/*.csv", "labs/include/*", "build/toolchain.env")


def grader_version_hash(binary, rubric, graded):
    """A hash that changes whenever a score of the graded labs might change."""
    digest = hashlib.sha256()
    files = [Path(binary)] + sorted(path for pattern in VERSION for path in ROOT.glob(pattern))
    rubrics, homes = labs.rubric_path_by_lab(rubric), labs.rubric_path_by_lab()
    for lab in graded:
        files.append(rubrics[lab])
        files += homes[lab].parents[2].glob(f"grader/labs/{lab}/given.cu") if lab in homes else []
    for path in files:
        digest.update(path.name.encode() + b"\n" + hashlib.sha256(read_bytes(path, PROGRAM_BYTES)).digest())
    return digest.hexdigest()


def make_job_executor(options, store):
    """An executor of submitit: `local` processes, or jobs of Slurm."""
    folder = store.state / "jobs"
    if options.executor == "local":
        executor = submitit.LocalExecutor(folder=folder)
        # Longer than any class takes, because each submission has its own time limit.
        executor.update_parameters(timeout_min=7 * 24 * 60, stderr_to_stdout=True)
        return executor
    return slurm.make_slurm_executor(options, folder)


class GradingJobScheduler:
    """A run over `tasks`. It calls `on_submission_finished(task, record)` once for each finished submission, and
    `on_news(line)` for Slurm jobs that end early."""

    def __init__(self, plan, store, executor, jobs, on_submission_finished, on_news):
        self.plan, self.store, self.executor = plan, store, executor
        self.jobs, self.on_submission_finished, self.on_news = jobs, on_submission_finished, on_news
        self.on_slurm = not plan.owner
        self.pending = {task.slug: task for task in plan.tasks}
        self.running = []

    def collect_finished_submissions(self):
        """Collects what the jobs have finished since the last call. A failure that will be retried is not reported yet."""
        there = self.store.recorded_slugs()
        for slug, task in list(self.pending.items()):
            record = self.store.valid_record(slug, task.key) if slug in there else None
            if record and (record["status"] != NOT_GRADED or record["tries"] >= TRIES):
                del self.pending[slug]
                self.on_submission_finished(task, record)
        if self.on_slurm:
            for line in self.executor.take_job_messages():
                self.on_news(line)

    def poll_interval_seconds(self):
        """Polls less often on Slurm, because each poll reads all records in OUT, which is there on a shared file
        system."""
        return POLL_SHARED if self.on_slurm else POLL

    def run_jobs(self, tasks):
        """Starts at most `jobs` jobs for these tasks and waits for all of them."""
        count = min(self.jobs, len(tasks))
        plan = worker.GradingRunPlan(**(vars(self.plan) | {"tasks": tuple(tasks)}))
        # The tasks are written to a file once instead of with each job, because for 10,000 submissions they take a
        # megabyte.
        path = self.store.state / "jobs/plan"
        self.store.write_file(path, pickle.dumps(plan))
        try:
            # On Slurm, the jobs of a batch are one job array.
            together = self.executor.batch() if self.on_slurm else contextlib.nullcontext()
            blocked = slurm.ENDINGS if self.on_slurm else [signal.SIGINT]
            with blocking_signals(blocked), together:
                self.running = [
                    self.executor.submit(worker.run_grading_job, str(path), i, count) for i in range(count)
                ]
        except (
            OSError,
            subprocess.CalledProcessError,
            submitit.core.utils.FailedJobError,
        ) as error:
            raise UserError(f"no job can be started: {printable_line(error)}") from None
        while not all(job.done() for job in self.running):
            self.collect_finished_submissions()
            time.sleep(self.poll_interval_seconds())
        self.collect_finished_submissions()
        ended, self.running = self.running, []
        return ended

    def run(self):
        in_vain = 0
        if self.on_slurm:  # cancels jobs that an earlier, killed run has left behind
            self.executor.cancel_all_jobs()
        while self.pending:
            state = {slug: self.store.grading_try_count(slug) for slug in self.pending}
            left = [task for slug, task in self.pending.items() if state[slug] < TRIES]
            if not left:
                break
            ended = self.run_jobs(left)
            moved = len(self.pending) < len(state) or any(
                self.store.grading_try_count(slug) > state[slug] for slug in self.pending
            )
            in_vain = 0 if moved or self.is_any_held_by_earlier_job(left) else in_vain + 1
            if in_vain == IN_VAIN:  # not at once: a node may fail before it begins
                self.give_up_tasks(left, f"no job began to grade: {last_log_line(ended)}")
        for task in list(self.pending.values()):
            self.give_up_tasks([task], self.death_reason(task))

    def death_reason(self, task):
        job = self.store.last_slurm_job_of(task.slug)
        if self.on_slurm and job:
            return f"the job that graded it has died ({self.executor.queue.job_state_text(job)})"
        return "the process that graded it has died (out of memory?)"

    def is_any_held_by_earlier_job(self, tasks):
        """Whether a job of an earlier run still grades one of these tasks; if so, waits for one poll interval."""
        for task in tasks:
            with self.store.claim_submission(task.slug) as mine:
                if mine is False:
                    time.sleep(POLL)
                    return True
        return False

    def give_up_tasks(self, tasks, why):
        for task in tasks:
            if task.slug not in self.pending:
                continue
            record = worker.make_grading_record(task, self.store, why)
            self.store.write_record(task.slug, record)
            del self.pending[task.slug]
            self.on_submission_finished(task, record)

    def stop_jobs(self):
        """Ends all running jobs. Submissions that they have not finished count as not begun."""
        self.store.request_stop()
        if self.on_slurm:
            self.executor.cancel_all_jobs()
        end = time.monotonic() + STOP
        while time.monotonic() < end and not all(job.done() for job in self.running):
            time.sleep(POLL)
        if self.on_slurm:
            self.executor.take_job_messages()  # removes the messages that these jobs were cancelled
        self.collect_finished_submissions()


@contextlib.contextmanager
def blocking_signals(signals):
    """Delivers Ctrl-C to this process only. The processes that it starts meanwhile ignore it, and have cleaned
    up by the time this process ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def redirect_stderr_to(path):
    """Redirects to a file what processes started meanwhile write to standard error. Yields the original standard
    error."""
    sys.stderr.flush()
    with os.fdopen(
        os.dup(2), "w", encoding=sys.stderr.encoding, errors="backslashreplace"
    ) as before:
        with open(path, "ab") as file:
            os.dup2(file.fileno(), 2)
        try:
            yield before
        finally:
            before.flush()
            os.dup2(before.fileno(), 2)


def last_log_line(jobs):
    """The last line in the log of one of the jobs."""
    for job in jobs:
        for read in (job.stderr, job.stdout):
            with contextlib.suppress(Exception):
                lines = (read() or "").strip().splitlines()
                if lines:
                    return printable_line(lines[-1])
    return "it left no message"


def class_seed(store, asked):
    """The seed for the whole class. It survives interruptions and is secret unless the instructor chose it."""
    path = store.state / "seed"
    if asked is None:
        with contextlib.suppress(OSError, ValueError):
            return int(path.read_text())
        asked = int.from_bytes(os.urandom(6))
    store.write_file(path, str(asked))
    return asked
