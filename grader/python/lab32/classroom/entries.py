"""What a folder or an archive holds, with nothing unpacked: names are judged, and only the files that
are asked for are read, up to a limit. So no name in an archive ever becomes a path of ours."""

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab32.classroom.problem import Problem, visible

ARCHIVE_BYTES = 64 << 20  # of one archive, as it is
DIRECTORY_BYTES = 8 << 20  # of an archive's list of entries
SOURCE_BYTES = 1 << 20  # of one .cu file: what `lab32 grade` takes, and one more is read


class Refused(Exception):
    """Of one student's submission, and why: nothing else of it is graded."""


@dataclass
class Budget:
    """What one student's submission may take, archives inside it included."""

    entries: int = 10_000
    bytes: int = 64 << 20
    archives: int = 20

    def take(self, entries=0, unpacked=0, archives=0):
        self.entries -= entries
        self.bytes -= unpacked
        self.archives -= archives
        if self.entries < 0:
            raise Refused("too many files")
        if self.bytes < 0:
            raise Refused("unpacks to more than 64 MiB")
        if self.archives < 0:
            raise Refused("too many archives")


@dataclass
class Entry:
    parts: tuple  # of its path, below the folder or the archive
    kind: str  # file, link, other, unsafe (a path that leads out), encrypted
    size: int
    read: Callable  # (limit) -> at most so many bytes
    time: float | None = None  # of its last change, in seconds since 1970
    packed: bool = False

    def name(self):
        return visible("/".join(self.parts))

    def below(self, depth):
        return Entry(self.parts[depth:], self.kind, self.size, self.read, self.time, self.packed)

    def is_zip(self):
        return self.parts[-1].casefold().endswith(".zip")

    def is_source(self):
        return self.parts[-1].casefold().endswith(".cu")


def in_folder(folder):
    """Entries of everything below a folder; links are told and never followed."""
    folder = Path(folder)

    def failed(error):
        raise Problem(f"{visible(error.filename)}: cannot be read: {error.strerror}")

    for here, folders, files in os.walk(folder, onerror=failed):
        folders.sort()
        for name in list(folders):
            if os.path.islink(os.path.join(here, name)):
                folders.remove(name)
                files.append(name)
        for name in sorted(files):
            path = Path(here, name)
            status = path.lstat()
            kind = (
                "file" if stat.S_ISREG(status.st_mode)
                else "link" if stat.S_ISLNK(status.st_mode) else "other"
            )  # fmt: skip
            yield Entry(
                path.relative_to(folder).parts,
                kind,
                status.st_size,
                _reader_of(path),
                status.st_mtime,
            )


def _reader_of(path):
    def read(limit):
        # Somebody may have put something else there since it was looked at.
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise Refused(f"{visible(path.name)} is no plain file")
                return file.read(limit)
        except OSError as error:
            raise Refused(f"{visible(path.name)} cannot be read: {error.strerror}") from None

    return read


def _check_directory(file):
    """zipfile keeps an object for each entry of the list, however many a small archive claims."""
    file.seek(0, io.SEEK_END)
    size = file.tell()
    file.seek(max(0, size - (1 << 16) - 22))
    tail = file.read()
    at = len(tail) - 22
    if not (tail[at : at + 4] == b"PK\5\6" and tail[-2:] == b"\0\0"):
        at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < 22:
        raise zipfile.BadZipFile
    if tail[max(0, at - 20) : at].startswith(b"PK\6\7"):
        raise Refused("an archive in the format for more than 4 GiB")
    if struct.unpack_from("<L", tail, at + 12)[0] > DIRECTORY_BYTES:
        raise Refused("an archive of too many files")
    file.seek(0)


def _kind_of(info):
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "other"
    return "encrypted" if info.flag_bits & 1 else "file"


def in_archive(file, what, trusted=False):
    """Entries of a zip archive: a path or a binary file. Refused where it cannot be read as one.
    `trusted`: the platform's own, which may be as large as it likes."""
    try:
        if not hasattr(file, "read"):
            file = open(file, "rb")  # noqa: SIM115 (its entries are read later)
        if not trusted:
            _check_directory(file)
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        ValueError,
        struct.error,
        EOFError,
    ):
        raise Refused(f"{visible(what)} is no zip archive that can be read") from None
    except OSError as error:
        raise Refused(f"{visible(what)} cannot be read: {error.strerror}") from None
    for info in infos:
        # Windows' own archiver may write backslashes; zipfile has cut the name at a NUL.
        path = info.filename.replace("\\", "/")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        leads_out = path.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", path)
        if info.is_dir() and not leads_out and _kind_of(info) != "link":
            continue
        yield Entry(
            parts or ("?",), "unsafe" if leads_out else _kind_of(info), info.file_size,
            _member_of(archive, info), _time_of(info), packed=True,
        )  # fmt: skip


def _time_of(info):
    try:
        return datetime(*info.date_time).timestamp()  # local time, as the format has it
    except (ValueError, OverflowError, OSError):
        return None


def _member_of(archive, info):
    def read(limit):
        try:
            with archive.open(info) as member:
                return member.read(limit)
        except (
            zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError,
            ValueError, struct.error, MemoryError,
        ) as error:  # fmt: skip
            reason = visible(error or type(error).__name__, 80)
            raise Refused(f"{visible(info.filename)} cannot be unpacked: {reason}") from None

    return read


REASON = {
    "link": "is a link",
    "other": "is no plain file",
    "unsafe": "leads out of its archive",
    "encrypted": "is encrypted",
}


def opened(entries, budget, depth=2):
    """The entries of one student's submission, those of archives in it in their place. Refused at the
    first that nobody hands in by mistake."""
    for entry in entries:
        budget.take(entries=1, unpacked=entry.size if entry.packed else 0)
        if entry.kind != "file":
            raise Refused(f"{entry.name()} {REASON[entry.kind]}")
        if not entry.is_zip():
            yield entry
            continue
        budget.take(archives=1)
        if depth == 0:
            raise Refused(f"{entry.name()}: an archive in an archive in an archive")
        data = entry.read(ARCHIVE_BYTES + 1)
        if len(data) > ARCHIVE_BYTES:
            raise Refused(f"{entry.name()} is larger than {ARCHIVE_BYTES >> 20} MiB")
        for inner in opened(in_archive(io.BytesIO(data), entry.name()), budget, depth - 1):
            inner.parts = (*entry.parts[:-1], entry.parts[-1][:-4], *inner.parts)
            yield inner
