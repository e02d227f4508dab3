"""Lists a folder or an archive without unpacking it. Names are checked, and only requested files are
read, up to a limit, so that no name in an archive ever becomes a path on this machine."""

import bz2
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from lab32.classroom.problem import UserError, printable_line

ARCHIVE_BYTES = 64 << 20  # the size of one archive, compressed
DIRECTORY_BYTES = 8 << 20  # the size of an archive's directory
UNPACKED_BYTES = 64 << 20  # the size of one student's archives, unpacked
LZMA_BYTES = 128 << 20  # the memory that xz's decoder may use; `xz -9` needs 65 MiB
SOURCE_BYTES = 1 << 20  # limit of `lab32 grade` for a .cu file; one more byte is read, to notice a larger file
ARCHIVE = re.compile(r"(?i)(?P<stem>.*)\.(zip|tar|tar\.gz|tgz|tar\.xz|txz|tar\.bz2|tbz2?)")
SOURCE = re.compile(r"(?i)(?P<stem>.*)\.cu(\.txt)?")  # some browsers and mail programs append .txt
JUNK = {"__macosx", "thumbs.db", "desktop.ini", "__pycache__"}  # and hidden files: .DS_Store, .git
HEADER = re.compile(r"(?i).*\.(h|hh|hpp|hxx|cuh|inl|inc)")


def is_junk_path(parts):
    """Whether the file was not made by the student but left behind by an operating system, an editor or another
    program."""
    return any(part.casefold() in JUNK or part.startswith(".") for part in parts)


class SubmissionRefused(Exception):
    """Raised if one student's submission is refused as a whole; the text is the reason."""


@dataclass
class SizeBudget:
    """What one student's submission, including archives in it, may still take up."""

    entries: int = 10_000
    bytes: int = UNPACKED_BYTES
    archives: int = 20

    def spend(self, entries=0, unpacked=0, archives=0):
        self.entries -= entries
        self.bytes -= unpacked
        self.archives -= archives
        if self.entries < 0:
            raise SubmissionRefused("too many files")
        if self.bytes < 0:
            raise SubmissionRefused("unpacks to more than 64 MiB")
        if self.archives < 0:
            raise SubmissionRefused("too many archives")


@dataclass
class FileEntry:
    parts: tuple  # of the path relative to the folder or the archive
    kind: str  # file, link, other, unsafe (a path outside the archive), encrypted; empty: a folder without files
    size: int
    read: Callable  # a function (limit) that returns at most `limit` bytes of the contents
    time: float | None = None  # last modified, in seconds since 1970
    packed: bool = False
    order: int = 0  # number of the attempt, if each file of an export has its own
    exported: str = ""  # its name in the export, if a platform has changed it

    def printable_name(self):
        return printable_line(self.exported or "/".join(self.parts))

    def without_leading_folders(self, depth):
        return replace(self, parts=self.parts[depth:])

    def is_archive(self):
        return bool(ARCHIVE.fullmatch(self.parts[-1]))

    def is_cu_file(self):
        return bool(SOURCE.fullmatch(self.parts[-1]))

    def is_header(self):
        return bool(HEADER.fullmatch(self.parts[-1]))


def entries_below_folder(folder):
    """Entries of everything below a folder. Links are reported and never followed."""
    folder = Path(folder)

    def raise_unreadable(error):
        raise UserError(f"{printable_line(error.filename)}: cannot be read: {error.strerror}")

    for here, folders, files in os.walk(folder, onerror=raise_unreadable):
        folders.sort()
        for name in list(folders):
            if os.path.islink(os.path.join(here, name)):
                folders.remove(name)
                files.append(name)
        if not folders and not files and here != str(folder):
            yield FileEntry(Path(here).relative_to(folder).parts, "empty", 0, None)
        for name in sorted(files):
            path = Path(here, name)
            status = path.lstat()
            kind = (
                "file" if stat.S_ISREG(status.st_mode)
                else "link" if stat.S_ISLNK(status.st_mode) else "other"
            )  # fmt: skip
            yield FileEntry(
                path.relative_to(folder).parts,
                kind,
                status.st_size,
                _file_reader(path),
                status.st_mtime,
            )


def _file_reader(path):
    def read_regular_file(limit):
        # Another program may have replaced the path by a link or a device after it was listed.
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise SubmissionRefused(f"{printable_line(path.name)} is not a regular file")
                return file.read(limit)
        except OSError as error:
            raise SubmissionRefused(f"{printable_line(path.name)} cannot be read: {error.strerror}") from None

    return read_regular_file


def _check_zip_directory_size(file):
    """Limits the size of a zip's directory, because zipfile keeps an object for each entry in it, and a small archive
    can claim to have millions."""
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
        raise SubmissionRefused("an archive in the Zip64 format (over 4 GiB)")
    if struct.unpack_from("<L", tail, at + 12)[0] > DIRECTORY_BYTES:
        raise SubmissionRefused("an archive with too many files")
    file.seek(0)


def _kind_of_zip_member(info):
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "other"
    return "encrypted" if info.flag_bits & 1 else "file"


def archive_entries(file, what, trusted=False):
    """Entries of a zip or tar archive, which is given as a path or a binary file. Raises SubmissionRefused if it is invalid.
    `trusted` lifts the size limits, for archives that the platform itself wrote."""
    try:
        if not hasattr(file, "read"):
            file = open(file, "rb")  # noqa: SIM115 (its entries are read later)
        begin = file.read(8)
        file.seek(0)
        for magic, kind in FOREIGN.items():
            if begin.startswith(magic):
                raise SubmissionRefused(f"{printable_line(what)} is a {kind} archive, which cannot be read; a zip or a tar can")
        tar = not begin.startswith(b"PK") and not what.casefold().endswith(".zip")
        yield from _tar_entries(file, what, trusted) if tar else _zip_entries(file, what, trusted)
    except OSError as error:
        raise SubmissionRefused(f"{printable_line(what)} cannot be read: {error.strerror}") from None


FOREIGN = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!\x1a\x07": "RAR"}


def _member_parts_and_escape_flag(name):
    """(parts, whether the path leads out of its archive). Some programs on Windows write backslashes."""
    path = name.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    leads_out = path.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", path)
    return parts or ("?",), bool(leads_out)


def _empty_folders(folders, files):
    """Entries for the folders that contain no file."""
    used = {parts[:depth] for parts in files for depth in range(1, len(parts))}
    used |= {parts[:depth] for parts in folders for depth in range(1, len(parts))}
    for parts in dict.fromkeys(folders):
        if parts not in used:
            yield FileEntry(parts, "empty", 0, None)


def _zip_entries(file, what, trusted):
    try:
        if not trusted:
            _check_zip_directory_size(file)
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
        raise SubmissionRefused(f"{printable_line(what)} is not a readable zip archive") from None
    folders, files = [], []
    for info in infos:
        parts, leads_out = _member_parts_and_escape_flag(info.filename)  # zipfile has cut the name at a NUL
        if info.is_dir() and not leads_out and _kind_of_zip_member(info) != "link":
            folders += [parts] if parts != ("?",) else []
            continue
        files.append(parts)
        yield FileEntry(
            parts, "unsafe" if leads_out else _kind_of_zip_member(info), info.file_size,
            _zip_member_reader(archive, info), _zip_member_time(info), packed=True,
        )  # fmt: skip
    yield from _empty_folders(folders, files)


def _decompress(file, what):
    """The tar archive itself as a binary file. Raises SubmissionRefused if it is larger than a submission may be."""
    data = file.read(ARCHIVE_BYTES + 1)
    try:
        if data.startswith(b"\x1f\x8b"):
            data = zlib.decompressobj(wbits=31).decompress(data, UNPACKED_BYTES + 1)
        elif data.startswith(b"\xfd7zXZ\0"):
            data = lzma.LZMADecompressor(memlimit=LZMA_BYTES).decompress(data, UNPACKED_BYTES + 1)
        elif data.startswith(b"BZh"):
            data = bz2.BZ2Decompressor().decompress(data, UNPACKED_BYTES + 1)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError):
        raise SubmissionRefused(f"{printable_line(what)} is not a readable tar archive") from None
    if len(data) > UNPACKED_BYTES:
        raise SubmissionRefused("unpacks to more than 64 MiB")
    return io.BytesIO(data)


def _tar_entries(file, what, trusted):
    folders, files = [], []
    try:
        archive = tarfile.open(fileobj=file if trusted else _decompress(file, what))  # noqa: SIM115 (read later)
        for info in archive:
            parts, leads_out = _member_parts_and_escape_flag(info.name)
            if info.isdir() and not leads_out:
                folders += [parts] if parts != ("?",) else []
                continue
            kind = "file" if info.isreg() else "link" if info.issym() or info.islnk() else "other"
            files.append(parts)
            yield FileEntry(
                parts, "unsafe" if leads_out else kind, info.size, _tar_member_reader(archive, info),
                float(info.mtime), packed=True,
            )  # fmt: skip
    except (tarfile.TarError, EOFError, ValueError, OverflowError, zlib.error, lzma.LZMAError):
        raise SubmissionRefused(f"{printable_line(what)} is not a readable tar archive") from None
    yield from _empty_folders(folders, files)


def _tar_member_reader(archive, info):
    def read(limit):
        try:
            return archive.extractfile(info).read(limit)
        except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            reason = printable_line(error or type(error).__name__, 80)
            raise SubmissionRefused(f"{printable_line(info.name)} cannot be unpacked: {reason}") from None

    return read


def _zip_member_time(info):
    try:
        return datetime(*info.date_time).timestamp()  # the format stores local time
    except (ValueError, OverflowError, OSError):
        return None


def _zip_member_reader(archive, info):
    def read(limit):
        try:
            with archive.open(info) as member:
                return member.read(limit)
        except (
            zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError,
            ValueError, struct.error, MemoryError,
        ) as error:  # fmt: skip
            reason = printable_line(error or type(error).__name__, 80)
            raise SubmissionRefused(f"{printable_line(info.filename)} cannot be unpacked: {reason}") from None

    return read


REASON = {
    "link": "is a link",
    "other": "is not a regular file",
    "unsafe": "points outside its archive",
    "encrypted": "is encrypted",
}


def open_nested_archives(entries, budget, depth=2):
    """The files of one student's submission, with those of nested archives in place of the archives.
    Raises SubmissionRefused at the first entry that is a link, not a regular file, encrypted, outside its archive,
    nested too deep or beyond the budget."""
    for entry in entries:
        budget.spend(entries=1, unpacked=entry.size if entry.packed else 0)
        if entry.kind == "empty" or (is_junk_path(entry.parts) and entry.kind != "unsafe"):
            continue
        if entry.kind != "file":
            raise SubmissionRefused(f"{entry.printable_name()} {REASON[entry.kind]}")
        if not entry.is_archive():
            yield entry
            continue
        budget.spend(archives=1)
        if depth == 0:
            raise SubmissionRefused(f"{entry.printable_name()}: archives are nested more than two deep")
        data = entry.read(ARCHIVE_BYTES + 1)
        if len(data) > ARCHIVE_BYTES:
            raise SubmissionRefused(f"{entry.printable_name()} is larger than {ARCHIVE_BYTES >> 20} MiB")
        for inner in open_nested_archives(archive_entries(io.BytesIO(data), entry.printable_name()), budget, depth - 1):
            inner.parts = (*entry.parts[:-1], ARCHIVE.fullmatch(entry.parts[-1])["stem"], *inner.parts)
            inner.order = entry.order
            yield inner
