"""Submits, watches and cancels Slurm jobs. submitit submits them; their states are read from squeue, which
every cluster has, rather than sacct, which needs accounting."""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import time

import submitit
from submitit.slurm.slurm import SlurmInfoWatcher

from lab32.classroom.problem import UserError, printable_line

# States in which a job has ended for good. In all other states it runs, waits or will be requeued.
ENDED = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "REVOKED", "TIMEOUT",
}  # fmt: skip
GONE = "no longer known to Slurm"
ASK_EVERY = 10  # seconds between calls of squeue, fewer at the start; one call serves all jobs
# Signals are blocked while sbatch runs, so that a job array is either submitted and known, or neither.
ENDINGS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
WAITING = 60  # seconds until the user is told why no job runs


def parse_minutes(text):
    """Minutes from Slurm's notations for a time: minutes, M:SS, H:MM:SS, D-H, D-H:MM, D-H:MM:SS."""
    found = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?", text)
    if not found:
        raise UserError(f"--time {printable_line(text, 40)}: write minutes, H:MM:SS or D-H:MM")
    days, *parts = (None if part is None else int(part) for part in found.groups())
    given = [part for part in parts if part is not None]
    if days is None:
        given = [0, *given] if len(given) < 3 else given  # without hours, minutes come first
    hours, minutes, seconds = (*given, 0, 0)[:3]
    total = ((days or 0) * 24 + hours) * 60 + minutes + -(-seconds // 60)
    if total < 1:
        raise UserError(f"--time {printable_line(text, 40)}: a job needs at least a minute")
    return total


class SlurmJobWatcher(SlurmInfoWatcher):
    """Replaces submitit's watcher, which needs sacct to learn that a job has ended."""

    def __init__(self, name):
        super().__init__(delay_s=ASK_EVERY)
        self.name, self.news = name, []
        self.idle_since, self.reported_reason = time.monotonic(), ""

    def _make_command(self):
        columns = "JobArrayID:40|,State:20|,NodeList:60|,RestartCnt:10|,Reason:100|"
        return ["squeue", f"--name={self.name}", "--noheader", "--array", "--states=all", f"--Format={columns}"]  # fmt: skip

    def read_info(self, string):
        """{job: its state and node} for the jobs submitted here. `string` is always an answer of squeue, so a job that
        it does not list has ended."""
        now = {}
        for line in string.decode(errors="replace").splitlines():
            job, *words = (word.strip() for word in line.split("|"))
            if job in self._registered - self._finished and len(words) >= 4:
                now[job] = dict(zip(("State", "NodeList", "Restarts", "Reason"), words))
        for job in self._registered - self._finished - now.keys():
            now[job] = self._info_dict.get(job, {}) | {"State": GONE}
        self._report_early_ends(now)
        self._report_why_no_job_runs(list(now.values()))
        return now

    def _report_early_ends(self, jobs):
        """Reports jobs that ended early."""
        ended = {}
        for job, now in jobs.items():
            before = self._info_dict.get(job, {})
            now["Where"] = now.get("NodeList") or before.get("Where", "")
            if now["State"] in ENDED - {"COMPLETED"}:
                ended.setdefault((now["Where"], now["State"]), []).append(job)
            elif now.get("Restarts", "0") != before.get("Restarts", "0"):
                ended.setdefault((now["Where"], "Slurm starts it again"), []).append(job)
        for (where, what), names in sorted(ended.items()):
            more = ", ..." if len(names) > 3 else ""
            self.news.append(
                f"job {', '.join(sorted(names)[:3])}{more}{where and ' on '}{where}: {what}"
            )

    def _report_why_no_job_runs(self, jobs):
        waiting = [job["Reason"] for job in jobs if job["State"] == "PENDING"]
        if not waiting or len(waiting) < len(jobs):
            self.idle_since, self.reported_reason = time.monotonic(), ""
        elif time.monotonic() - self.idle_since > WAITING and self.reported_reason != waiting[0]:
            self.reported_reason = waiting[0]
            self.news.append(f"no job runs yet; Slurm's reason: {self.reported_reason}")

    def job_state_text(self, job):
        """ "12_1 on n2: NODE_FAIL" """
        now = self._info_dict.get(job, {})
        where = f" on {now['Where']}" if now.get("Where") else ""
        return f"{job}{where}: {now.get('State', GONE)}"

    def is_done(self, job_id, mode="standard"):
        return self.get_state(job_id, mode=mode) in ENDED | {GONE}


class ClassSlurmExecutor(submitit.SlurmExecutor):
    def __init__(self, folder, out):
        super().__init__(folder=folder)
        # The name depends on OUT, so that the next run with this OUT finds the jobs that a killed run has left behind.
        self.name = f"lab32-class-{hashlib.sha256(os.fsencode(out)).hexdigest()[:8]}"
        self.queue = submitit.SlurmJob.watcher = SlurmJobWatcher(self.name)

    def cancel_all_jobs(self):
        """Cancels all jobs of this OUT, including those of an earlier run."""
        with contextlib.suppress(OSError):
            subprocess.run(
                ["scancel", f"--name={self.name}"], stdin=subprocess.DEVNULL, check=False
            )

    def take_job_messages(self):
        ended, self.queue.news = self.queue.news, []
        return ended


def make_slurm_executor(options, folder):
    try:
        executor = ClassSlurmExecutor(folder, options.out.resolve())
    except RuntimeError:
        raise UserError(
            "--executor slurm: srun is not installed here; run this on a login node of the cluster"
        ) from None
    given = {"partition": options.partition, "gres": options.gres, "time": parse_minutes(options.time)}
    executor.update_parameters(
        job_name=executor.name, cpus_per_task=1, stderr_to_stdout=True, array_parallelism=10_000,
        **{key: value for key, value in given.items() if value},
    )  # fmt: skip
    return executor
