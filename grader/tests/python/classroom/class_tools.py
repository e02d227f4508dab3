"""Helpers for tests of `lab32 class`: small classes, a grader that replaces the real one (fake_grader.py), and
the command itself."""

import csv
import io
import json
import os
import selectors
import signal
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path

from lab32.classroom import run
from lab32.classroom.__main__ import main

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "lab32.classroom"]
LABS = ["shuffle", "swizzle"]
REPORT, PAGES = object(), object()  # options of Classroom.run()


def fake_grader(folder):
    path = Path(folder, "fake_lab32")
    path.write_text(f"#!{sys.executable} -IS\n{(HERE / 'fake_grader.py').read_text()}")
    path.chmod(0o755)
    return path


def put(folder, files):
    """Writes {path: text} below the folder."""
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Path(folder)


def zipped(files):
    """The bytes of a zip archive; a key may be a ZipInfo."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def class_of(folder, texts):
    """Writes a class of {name: text of shuffle.cu}."""
    return put(folder, {f"{name}/shuffle.cu": text for name, text in texts.items()})


def read_all(pipes):
    """Reads each pipe to its end."""
    texts = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                if data := os.read(key.fd, 1 << 16):
                    texts[key.fd] += data
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode() for text in texts.values()]


class Fork:
    """Replaces submitit's executor and job by a fork, which need not import anything, since most tests are about
    something else."""

    def __init__(self, *_):
        self.status = None

    def submit(self, function, *arguments):
        job = Fork()
        job.child = os.fork()
        if job.child == 0:
            try:
                function(*arguments)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        return job

    def done(self):
        if self.status is None:
            child, status = os.waitpid(self.child, os.WNOHANG)
            self.status = status if child else None
        return self.status is not None

    def stdout(self):
        return ""

    stderr = stdout


class Classroom:
    """A folder with submissions, the fake grader and OUT."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.submissions, self.out = self.folder / "in", self.folder / "out"
        self.folder.mkdir(exist_ok=True)
        self.binary, self.log = fake_grader(folder), self.folder / "log"
        self.environment = dict(
            os.environ, PYTHONPATH=str(HERE.parent), LAB32_FAKE_LOG=str(self.log), COLUMNS="200"
        )

    def command(self, *options, jobs=1):
        """Runs without report and pages; the report takes longer than everything else."""
        return [
            *COMMAND, str(self.submissions), "-o", str(self.out), "--jobs", str(jobs), "--seed", "7",
            "--binary", str(self.binary), *([] if REPORT in options else ["--no-report"]),
            *([] if PAGES in options else ["--no-pages"]),
            *(str(option) for option in options if option not in (REPORT, PAGES)),
        ]  # fmt: skip

    def run(self, *options, jobs=1, before=lambda: None, executor=Fork):
        """The exit status; `out_text` and `err_text` hold the output. `before` is called in the forked
        process."""
        arguments = self.command(*options, jobs=jobs)[len(COMMAND) :]
        pipes = [os.pipe(), os.pipe()]
        child = os.fork()
        if child == 0:
            os._exit(self._run(arguments, [write for _, write in pipes], before, executor))
        for _, write in pipes:
            os.close(write)
        self.out_text, self.err_text = read_all([read for read, _ in pipes])
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert "Traceback" not in self.err_text, self.err_text
        return status

    def _run(self, arguments, outputs, before, executor):
        try:
            signal.alarm(60)
            for number, output in zip((1, 2), outputs, strict=True):
                os.dup2(output, number)
                os.close(output)
            sys.stdout, sys.stderr = (open(fd, "w", closefd=False) for fd in (1, 2))
            os.environ.update(self.environment)
            if executor:
                run.make_job_executor, run.POLL = executor, 0.01
                os.fsync = lambda file: None  # these tests do not simulate power failures
            before()
            return main(arguments)
        except BaseException:
            traceback.print_exc()
            return 70
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def start(self, *options, jobs=1):
        return subprocess.Popen(
            self.command(*options, jobs=jobs), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, env=self.environment,
        )  # fmt: skip

    def graded(self):
        """Names in the order in which the grader finished them."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def rows(self):
        """{name: row of scores.csv}."""
        with open(self.out / "scores.csv", newline="", encoding="utf-8") as file:
            return {row["name"]: row for row in csv.DictReader(file)}

    def scores(self):
        return {name: row["score"] for name, row in self.rows().items()}

    def result(self, name):
        return json.loads((self.out / f"results/{name}.json").read_text())
