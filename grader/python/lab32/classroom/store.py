"""Manages OUT: where results lie, and how each is written atomically.

OUT/scores.csv, gradebook.csv    written at the end, and when interrupted
OUT/results/NAME.json            lab32-result/2, one per student
OUT/reports/NAME.txt             the score report
OUT/pages/NAME.html              the result as a page
OUT/submissions/NAME/LAB         what was graded: LAB.cu and the student's own headers
OUT/.class/records/NAME.json     the final record of a student, written after all the others
OUT/.class/tries/NAME            how often grading began in this run, and in which Slurm job
OUT/.class/locks/NAME            held by the job that grades the student
OUT/.class/parts/                files that are being written, and scratch of the graders
OUT/.class/stop                  asks all jobs to end
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from pathlib import Path

from lab32.classroom.problem import UserError, printable_line

GRADED, REFUSED, NOT_GRADED = "graded", "refused", "not graded"
TRIES = 2


def write_atomically(path, data, unfinished_files_folder):
    """Replaces the file atomically, even if the machine stops meanwhile. `unfinished_files_folder` is a folder on the same file
    system for incomplete files."""
    path = Path(path)
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    beside = Path(unfinished_files_folder, secrets.token_hex(12))
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # write() does not name the file
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def unique_slug(name, key, taken):
    """A file name for a student that is unique, also on file systems that ignore case. The student's name may be in any
    script."""
    text = unicodedata.normalize("NFC", name)
    slug = re.sub(r"[^\w.\- ]", "_", text).strip(" .-")
    while len(slug.encode()) > 80:
        slug = slug[:-1]
    if slug != text or not slug or slug.casefold() in taken:
        slug = f"{slug or 'student'}-{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    taken.add(slug.casefold())
    return slug


class ClassResultStore:
    def __init__(self, out):
        self.out = Path(out)
        self.state = self.out / ".class"

    def incomplete_files_folder(self):
        return self.state / "parts"

    def write_file(self, path, data):
        write_atomically(path, data, self.incomplete_files_folder())

    def remove_incomplete_files(self):
        """Removes what killed processes have left behind. Must not be called while a job runs."""
        for path in self.incomplete_files_folder().iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def create_folders(self):
        if self.out.is_dir() and not self.state.exists() and any(self.out.iterdir()):
            raise UserError(
                f"{printable_line(self.out)}: it holds files that `lab32 class` did not write; choose another -o"
            )
        try:
            for folder in (".class/records", ".class/tries", ".class/locks", ".class/jobs", ".class/parts",
                           "results", "reports", "pages", "submissions"):  # fmt: skip
                (self.out / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{printable_line(error.filename)}: cannot be created: {error.strerror}") from None

    # ---- one `lab32 class` at a time ---------------------------------------------------------------

    def lock_until_process_exit(self):
        """Locks OUT for this process; the kernel releases the lock however the process ends."""
        self._lock_file = open(self.state / "owner", "w")  # noqa: SIM115 (held to the end)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{printable_line(self.out)}: another `lab32 class` is using this folder; wait until it ends"
            ) from None
        except OSError:
            pass  # a file system without locks
        self.stop_request_path().unlink(missing_ok=True)

    def stop_request_path(self):
        return self.state / "stop"

    def request_stop(self):
        """Asks all jobs to end."""
        self.stop_request_path().touch()

    def is_stop_requested(self):
        return self.stop_request_path().exists()

    # ---- a student ---------------------------------------------------------------------------------

    def result_path(self, slug):
        return self.out / "results" / f"{slug}.json"

    def report_path(self, slug):
        return self.out / "reports" / f"{slug}.txt"

    def student_page_path(self, slug):
        return self.out / "pages" / f"{slug}.html"

    def submission_folder(self, slug):
        return self.out / "submissions" / slug

    def store_submission_files(self, slug, tree):
        """Stores the files {path: bytes} of a submission, and removes those of an earlier attempt."""
        folder = self.submission_folder(slug)
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        there = {}
        if folder.exists():
            there = {
                path.relative_to(folder): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        wanted = {Path(path): data for path, data in tree.items()}
        if there != wanted and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        for path, data in wanted.items():
            if there != wanted:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)

    def record_path(self, slug):
        return self.state / "records" / f"{slug}.json"

    def recorded_slugs(self):
        return {name.removesuffix(".json") for name in os.listdir(self.state / "records")}

    def read_record(self, slug):
        try:
            record = json.loads(self.record_path(slug).read_text())
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def valid_record(self, slug, key):
        """The record of the submission if it was made for this very version of it and its files exist; else None."""
        record = self.read_record(slug)
        if not record or record.get("key") != key:
            return None
        if record["status"] == NOT_GRADED:
            return record
        try:
            data = self.result_path(slug).read_bytes()
        except OSError:
            return None
        whole = (
            hashlib.sha256(data).hexdigest() == record.get("sha256") and self.report_path(slug).exists()
        )
        return record if whole else None

    def write_record(self, slug, record, result=b"", report=b""):
        """Writes the record last, so that every file it refers to exists."""
        if record["status"] == NOT_GRADED:
            for path in (self.result_path(slug), self.report_path(slug), self.student_page_path(slug)):
                path.unlink(missing_ok=True)
        else:
            self.write_file(self.result_path(slug), result)
            self.write_file(self.report_path(slug), report)
        record["sha256"] = hashlib.sha256(result).hexdigest()
        self.write_file(self.record_path(slug), json.dumps(record, indent=1))

    def remove_record(self, slug):
        """Removes the record and the results of a submission that will be graded anew: its file has changed, or it failed."""
        for path in (self.record_path(slug), self.result_path(slug), self.report_path(slug), self.student_page_path(slug)):
            path.unlink(missing_ok=True)

    # ---- the process that grades it ------------------------------------------------------------------

    def grading_try_count(self, slug):
        try:
            return int((self.state / "tries" / slug).read_text().partition(" ")[0])
        except (OSError, ValueError):
            return 0

    def last_slurm_job_of(self, slug):
        """The Slurm job that has last begun this submission; "" if unknown."""
        with contextlib.suppress(OSError):
            return (self.state / "tries" / slug).read_text().partition(" ")[2]
        return ""

    def record_grading_try(self, slug, job=""):
        self.write_file(self.state / "tries" / slug, f"{self.grading_try_count(slug) + 1} {job}".strip())

    def reset_grading_try_counts(self):
        for path in (self.state / "tries").iterdir():
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def claim_submission(self, slug):
        """Claims a submission: True for only one process at a time; None on file systems without locks."""
        with open(self.state / "locks" / slug, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:
                yield None
                return
            yield True
