"""OUT: where results lie, and how one of them becomes true at one instant.

OUT/scores.csv, gradebook.csv    written at the end, and when interrupted
OUT/results/NAME.json            lab32-result/2, one per student
OUT/reports/NAME.txt             the score report
OUT/pages/NAME.html              the same as a page, made of the result
OUT/submissions/NAME/LAB/LAB.cu  what was graded
OUT/.class/records/NAME.json     the last word on a student: written after all the others
OUT/.class/tries/NAME            how often it was begun in this run, and by which job of Slurm
OUT/.class/locks/NAME            held by who grades it
OUT/.class/parts/                what is being written, and scratch of who grades
OUT/.class/stop                  jobs are to end
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

from lab32.classroom.problem import Problem, visible

GRADED, REFUSED, NOT_GRADED = "graded", "refused", "not graded"
TRIES = 2


def write_whole(path, data, parts):
    """The file is the old one or the new one, whenever the machine stops. `parts` is a folder of the
    same file system for what is written half."""
    path = Path(path)
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    beside = Path(parts, secrets.token_hex(12))
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # write() does not say where
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def slug_of(name, key, taken):
    """A file's name for a student, in any script; no two are alike, also where case is not told."""
    text = unicodedata.normalize("NFC", name)
    slug = re.sub(r"[^\w.\- ]", "_", text).strip(" .-")
    while len(slug.encode()) > 80:
        slug = slug[:-1]
    if slug != text or not slug or slug.casefold() in taken:
        slug = f"{slug or 'student'}-{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    taken.add(slug.casefold())
    return slug


class Store:
    def __init__(self, out):
        self.out = Path(out)
        self.state = self.out / ".class"

    def parts(self):
        return self.state / "parts"

    def write(self, path, data):
        write_whole(path, data, self.parts())

    def sweep(self):
        """What processes that were killed have left; for when nobody works."""
        for path in self.parts().iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def create(self):
        if self.out.is_dir() and not self.state.exists() and any(self.out.iterdir()):
            raise Problem(
                f"{visible(self.out)}: holds other files, and nothing of `lab32 class`; name another -o"
            )
        try:
            for folder in (".class/records", ".class/tries", ".class/locks", ".class/jobs", ".class/parts",
                           "results", "reports", "pages", "submissions"):  # fmt: skip
                (self.out / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Problem(f"{visible(error.filename)}: cannot be made: {error.strerror}") from None

    # ---- one `lab32 class` at a time ---------------------------------------------------------------

    def own(self):
        """Holds OUT for this process; the kernel lets go of it, however the process ends."""
        self._own = open(self.state / "owner", "w")  # noqa: SIM115 (held to the end)
        try:
            fcntl.flock(self._own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"{visible(self.out)}: another `lab32 class` is writing there; wait for it"
            ) from None
        except OSError:
            pass  # a file system without locks
        self.stop_path().unlink(missing_ok=True)

    def stop_path(self):
        return self.state / "stop"

    def stop(self):
        """Tells all jobs to end."""
        self.stop_path().touch()

    def stopping(self):
        return self.stop_path().exists()

    # ---- a student ---------------------------------------------------------------------------------

    def result(self, slug):
        return self.out / "results" / f"{slug}.json"

    def report(self, slug):
        return self.out / "reports" / f"{slug}.txt"

    def page(self, slug):
        return self.out / "pages" / f"{slug}.html"

    def folder(self, slug):
        return self.out / "submissions" / slug

    def put_submission(self, slug, files):
        """{lab: bytes}, and nothing else of an earlier attempt."""
        folder = self.folder(slug)
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
        there = {}
        if folder.exists():
            there = {
                path.relative_to(folder): path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
        wanted = {Path(lab, f"{lab}.cu"): data for lab, data in files.items()}
        if there != wanted and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        for path, data in wanted.items():
            if there != wanted:
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(data)

    def record_path(self, slug):
        return self.state / "records" / f"{slug}.json"

    def recorded(self):
        return {name.removesuffix(".json") for name in os.listdir(self.state / "records")}

    def record(self, slug):
        try:
            record = json.loads(self.record_path(slug).read_text())
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def valid(self, slug, key):
        """The record of this very submission, with the files that it speaks of; else None."""
        record = self.record(slug)
        if not record or record.get("key") != key:
            return None
        if record["status"] == NOT_GRADED:
            return record
        try:
            data = self.result(slug).read_bytes()
        except OSError:
            return None
        whole = (
            hashlib.sha256(data).hexdigest() == record.get("sha256") and self.report(slug).exists()
        )
        return record if whole else None

    def keep(self, slug, record, result=b"", report=b""):
        """The record comes last: what it speaks of is there."""
        if record["status"] == NOT_GRADED:
            for path in (self.result(slug), self.report(slug), self.page(slug)):
                path.unlink(missing_ok=True)
        else:
            self.write(self.result(slug), result)
            self.write(self.report(slug), report)
        record["sha256"] = hashlib.sha256(result).hexdigest()
        self.write(self.record_path(slug), json.dumps(record, indent=1))

    def forget(self, slug):
        """What a run before this one said of another file, or that it could not grade this one."""
        for path in (self.record_path(slug), self.result(slug), self.report(slug), self.page(slug)):
            path.unlink(missing_ok=True)

    # ---- who grades it -----------------------------------------------------------------------------

    def tries(self, slug):
        try:
            return int((self.state / "tries" / slug).read_text().partition(" ")[0])
        except (OSError, ValueError):
            return 0

    def tried_by(self, slug):
        """The job that has begun it last; "" where that is not known."""
        with contextlib.suppress(OSError):
            return (self.state / "tries" / slug).read_text().partition(" ")[2]
        return ""

    def count_try(self, slug, job=""):
        self.write(self.state / "tries" / slug, f"{self.tries(slug) + 1} {job}".strip())

    def forget_tries(self):
        for path in (self.state / "tries").iterdir():
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def claim(self, slug):
        """True for one process at a time; None where the file system has no locks."""
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
