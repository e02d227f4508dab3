"""Which submissions are left, and who works on them: jobs of submitit, here or on Slurm."""

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

from lab32 import ROOT
from lab32.classroom import slurm, worker
from lab32.classroom.problem import Problem, visible
from lab32.classroom.store import NOT_GRADED, TRIES

POLL = 0.1
POLL_SHARED = 1
IN_VAIN = 3  # rounds of jobs, one after the other, that begin nothing
STOP = 10  # seconds that jobs are given to stop in
# What a score depends on beside the program itself.
VERSION = ("data/limits/*.toml", "data/devices/*.toml", "data/measured/**/*.csv", "labs/include/*",
           "grader/labs/*/given.cu", "build/toolchain.env")  # fmt: skip


def grader_version(binary, rubric):
    """Changes when a score might."""
    digest = hashlib.sha256()
    files = [Path(binary)] + sorted(path for pattern in VERSION for path in ROOT.glob(pattern))
    if rubric:
        files += sorted(Path(rubric).glob("*.toml"))
    for path in files:
        with open(path, "rb") as file:
            digest.update(path.name.encode() + b"\n" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def executor_of(options, store):
    """Of submitit: `local` processes, or jobs of Slurm."""
    folder = store.state / "jobs"
    if options.executor == "local":
        executor = submitit.LocalExecutor(folder=folder)
        # Longer than a class takes: each submission has a limit of its own.
        executor.update_parameters(timeout_min=7 * 24 * 60, stderr_to_stdout=True)
        return executor
    return slurm.executor_of(options, folder)


class Class:
    """A run over `tasks`; `on_record(task, record)` hears of each that is finished, once, and
    `on_news(line)` of jobs of Slurm that have ended before their time."""

    def __init__(self, plan, store, executor, jobs, on_record, on_news):
        self.plan, self.store, self.executor = plan, store, executor
        self.jobs, self.on_record, self.on_news = jobs, on_record, on_news
        self.on_slurm = not plan.owner
        self.pending = {task.slug: task for task in plan.tasks}
        self.running = []

    def look(self):
        """Takes up what the jobs have finished since. A failure that is tried again is none yet."""
        there = self.store.recorded()
        for slug, task in list(self.pending.items()):
            record = self.store.valid(slug, task.key) if slug in there else None
            if record and (record["status"] != NOT_GRADED or record["tries"] >= TRIES):
                del self.pending[slug]
                self.on_record(task, record)
        if self.on_slurm:
            for line in self.executor.news():
                self.on_news(line)

    def poll(self):
        """Each asks for all records in OUT: of Slurm, on a file system that many share."""
        return POLL_SHARED if self.on_slurm else POLL

    def launch(self, tasks):
        """At most `jobs` jobs for these tasks; waits for all of them."""
        count = min(self.jobs, len(tasks))
        plan = worker.Plan(**(vars(self.plan) | {"tasks": tuple(tasks)}))
        # Once, and not with each of the jobs: of 10,000 submissions it has a megabyte.
        path = self.store.state / "jobs/plan"
        self.store.write(path, pickle.dumps(plan))
        try:
            # Of Slurm, one array of jobs.
            together = self.executor.batch() if self.on_slurm else contextlib.nullcontext()
            blocked = slurm.ENDINGS if self.on_slurm else [signal.SIGINT]
            with without(blocked), together:
                self.running = [
                    self.executor.submit(worker.work, str(path), i, count) for i in range(count)
                ]
        except (
            OSError,
            subprocess.CalledProcessError,
            submitit.core.utils.FailedJobError,
        ) as error:
            raise Problem(f"no job can be started: {visible(error)}") from None
        while not all(job.done() for job in self.running):
            self.look()
            time.sleep(self.poll())
        self.look()
        ended, self.running = self.running, []
        return ended

    def run(self):
        in_vain = 0
        if self.on_slurm:  # what a run that was killed has left
            self.executor.cancel_all()
        while self.pending:
            state = {slug: self.store.tries(slug) for slug in self.pending}
            left = [task for slug, task in self.pending.items() if state[slug] < TRIES]
            if not left:
                break
            ended = self.launch(left)
            moved = len(self.pending) < len(state) or any(
                self.store.tries(slug) > state[slug] for slug in self.pending
            )
            in_vain = 0 if moved or self.someone_holds(left) else in_vain + 1
            if in_vain == IN_VAIN:  # a node may fail before anything is begun
                self.give_up(left, f"no job came to work: {log_of(ended)}")
        for task in list(self.pending.values()):
            self.give_up([task], self.died(task))

    def died(self, task):
        job = self.store.tried_by(task.slug)
        if self.on_slurm and job:
            return f"the job that graded it has died ({self.executor.queue.fate(job)})"
        return "the process that graded it has died (out of memory?)"

    def someone_holds(self, tasks):
        """Jobs of a run before this one that have not ended yet."""
        for task in tasks:
            with self.store.claim(task.slug) as mine:
                if mine is False:
                    time.sleep(POLL)
                    return True
        return False

    def give_up(self, tasks, why):
        for task in tasks:
            if task.slug not in self.pending:
                continue
            record = worker.record_of(task, self.store, why)
            self.store.keep(task.slug, record)
            del self.pending[task.slug]
            self.on_record(task, record)

    def stop(self):
        """What runs is ended, and counts as not begun."""
        self.store.stop()
        if self.on_slurm:
            self.executor.cancel_all()
        end = time.monotonic() + STOP
        while time.monotonic() < end and not all(job.done() for job in self.running):
            time.sleep(POLL)
        if self.on_slurm:
            self.executor.news()  # that they are cancelled is none
        self.look()


@contextlib.contextmanager
def without(signals):
    """Ctrl-C is for this process, and not for those that it starts meanwhile: they have tidied up when
    this one has come to its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def errors_to(path):
    """What the processes that are started meanwhile say goes to a file. Yields the standard error as
    it was."""
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


def log_of(jobs):
    """The last line that one of the jobs has left."""
    for job in jobs:
        for read in (job.stderr, job.stdout):
            with contextlib.suppress(Exception):
                lines = (read() or "").strip().splitlines()
                if lines:
                    return visible(lines[-1])
    return "it left no word"


def seed_of(store, asked):
    """One for the whole class, the same after an interruption; secret unless it was given."""
    path = store.state / "seed"
    if asked is None:
        with contextlib.suppress(OSError, ValueError):
            return int(path.read_text())
        asked = int.from_bytes(os.urandom(6))
    store.write(path, str(asked))
    return asked
