"""What tests of `lab32 class` share: a class made of a few words, a grader that stands in for the real
one (fake_grader.py), and the command itself."""

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "lab32.classroom"]
LABS = ["shuffle", "swizzle"]


def fake_grader(folder):
    path = Path(folder, "fake_lab32")
    path.write_text(f"#!{sys.executable} -IS\n{(HERE / 'fake_grader.py').read_text()}")
    path.chmod(0o755)
    return path


def put(folder, files):
    """{path: text} below the folder."""
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Path(folder)


def zipped(files):
    """The bytes of an archive; a key may be a ZipInfo."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def class_of(folder, texts):
    """{name: what shuffle.cu says}."""
    return put(folder, {f"{name}/shuffle.cu": text for name, text in texts.items()})


class Classroom:
    """A folder with submissions, the fake grader, and OUT."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.submissions, self.out = self.folder / "in", self.folder / "out"
        self.binary, self.log = fake_grader(folder), self.folder / "log"
        self.environment = dict(
            os.environ, PYTHONPATH=str(HERE.parent), LAB32_FAKE_LOG=str(self.log), COLUMNS="200"
        )

    def command(self, *options, jobs=1):
        return [
            *COMMAND, str(self.submissions), "-o", str(self.out), "--jobs", str(jobs), "--seed", "7",
            "--binary", str(self.binary), *map(str, options),
        ]  # fmt: skip

    def run(self, *options, jobs=1, **more):
        self.done = subprocess.run(
            self.command(*options, jobs=jobs), capture_output=True, text=True, timeout=60,
            env=self.environment, **more,
        )  # fmt: skip
        assert "Traceback" not in self.done.stderr, self.done.stderr
        return self.done.returncode

    def start(self, *options, jobs=1):
        return subprocess.Popen(
            self.command(*options, jobs=jobs), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, env=self.environment,
        )  # fmt: skip

    def graded(self):
        """Names in the order in which the grader has finished them."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def rows(self):
        """{name: row of scores.csv}."""
        with open(self.out / "scores.csv", newline="", encoding="utf-8") as file:
            return {row["name"]: row for row in csv.DictReader(file)}

    def scores(self):
        return {name: row["score"] for name, row in self.rows().items()}

    def result(self, name):
        return json.loads((self.out / f"results/{name}.json").read_text())
