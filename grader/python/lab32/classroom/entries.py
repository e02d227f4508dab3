"""Lists a folder or an archive without unpacking it. Names are checked, and only requested files are
read, up to a limit, so that no name in an archive ever becomes a path on this machine."""

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

ARCHIVE_BYTES = 64 << 20  # the size of one archive, compressed
DIRECTORY_BYTES = 8 << 20  # the size of an archive's directory
SOURCE_BYTES = 1 << 20  # the limit of `lab32 grade` for one .cu file; one byte more is read, to notice a larger one


class Refused(Exception):
    """The reason why one student's submission is refused as a whole."""


@dataclass
class Budget:
    """Limits on one student's submission, including the archives inside it."""

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
    parts: tuple  # of its path, relative to the folder or the archive
    kind: str  # file, link, other, unsafe (a path outside the archive), encrypted
    size: int
    read: Callable  # (limit) -> at most `limit` bytes
    time: float | None = None  # last modified, in seconds since 1970
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
    """Entries of everything below a folder. Links are reported and never followed."""
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
        # The path may have been replaced by a link or a device since it was listed.
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise Refused(f"{visible(path.name)} is not a regular file")
                return file.read(limit)
        except OSError as error:
            raise Refused(f"{visible(path.name)} cannot be read: {error.strerror}") from None

    return read


def _check_directory(file):
    """Limits the directory, since zipfile keeps an object for each entry that a small archive claims to have."""
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
        raise Refused("an archive in the Zip64 format (over 4 GiB)")
    if struct.unpack_from("<L", tail, at + 12)[0] > DIRECTORY_BYTES:
        raise Refused("an archive with too many files")
    file.seek(0)


def _kind_of(info):
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "other"
    return "encrypted" if info.flag_bits & 1 else "file"


def in_archive(file, what, trusted=False):
    """Entries of a zip archive, which is given as a path or a binary file. Raises Refused if it is invalid.
    `trusted` lifts the size limits, for archives that the platform itself wrote."""
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
        raise Refused(f"{visible(what)} is not a readable zip archive") from None
    except OSError as error:
        raise Refused(f"{visible(what)} cannot be read: {error.strerror}") from None
    for info in infos:
        # Some zip programs on Windows write backslashes. zipfile has cut the name at a NUL.
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
        return datetime(*info.date_time).timestamp()  # the format stores local time
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
    "other": "is not a regular file",
    "unsafe": "points outside its archive",
    "encrypted": "is encrypted",
}


def opened(entries, budget, depth=2):
    """The entries of one student's submission, with those of nested archives in place of the archives.
    Raises Refused at the first entry that cannot be an honest mistake."""
    for entry in entries:
        budget.take(entries=1, unpacked=entry.size if entry.packed else 0)
        if entry.kind != "file":
            raise Refused(f"{entry.name()} {REASON[entry.kind]}")
        if not entry.is_zip():
            yield entry
            continue
        budget.take(archives=1)
        if depth == 0:
            raise Refused(f"{entry.name()}: archives are nested more than two deep")
        data = entry.read(ARCHIVE_BYTES + 1)
        if len(data) > ARCHIVE_BYTES:
            raise Refused(f"{entry.name()} is larger than {ARCHIVE_BYTES >> 20} MiB")
        for inner in opened(in_archive(io.BytesIO(data), entry.name()), budget, depth - 1):
            inner.parts = (*entry.parts[:-1], entry.parts[-1][:-4], *inner.parts)
            yield inner
