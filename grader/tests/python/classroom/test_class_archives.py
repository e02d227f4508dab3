"""Broken and malicious archives: nothing is unpacked outside of OUT, other students are not affected, and the
student's line gives the reason."""

import io
import stat
import struct
import zipfile

import pytest
from class_tools import put, zipped

from lab32.classroom import entries
from lab32.classroom.collect import collect_students
from lab32.classroom.problem import UserError

LABS = ["shuffle"]


def refusal(folder, data):
    """The reason why ann's archive is refused. Checks that bob's folder is unchanged and that nothing else was written."""
    put(folder / "in", {"ann.zip": data, "bob/shuffle.cu": "good"})
    before = sorted(folder.rglob("*"))
    (ann, bob), _ = collect_students(folder / "in", LABS)
    assert bob.files["shuffle"].data == b"good"
    assert ann.files == {}
    assert sorted(folder.rglob("*")) == before
    return ann.refused


def special(name, mode, text="shuffle.cu"):
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return zipped({info: text, "shuffle.cu": "x"})


@pytest.mark.parametrize(
    "name", ["../../shuffle.cu", "a/../../x.cu", "/etc/passwd", "C:\\x.cu", "..\\..\\shuffle.cu"]
)
def test_a_path_outside_the_archive_is_refused(tmp_path, name):
    assert "points outside its archive" in refusal(tmp_path, zipped({name: "x", "shuffle.cu": "y"}))


def test_a_symbolic_link_is_refused(tmp_path):
    assert refusal(tmp_path, special("shuffle2.cu", stat.S_IFLNK | 0o777, "/etc/passwd")) == (
        "shuffle2.cu is a link"
    )


def test_a_link_to_a_folder(tmp_path):
    assert refusal(tmp_path, special("folder/", stat.S_IFLNK | 0o777, "/etc")) == "folder is a link"


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_pipes_devices_and_sockets_are_refused(tmp_path, kind):
    assert refusal(tmp_path, special("x.cu", kind | 0o666)) == "x.cu is not a regular file"


def test_a_zip_bomb_is_refused(tmp_path):
    bomb = zipped({"shuffle.cu": b"\0" * (80 << 20)})
    assert len(bomb) < 100_000
    assert refusal(tmp_path, bomb) == "unpacks to more than 64 MiB"


def test_a_zip_bomb_with_a_false_size_is_refused(tmp_path):
    data = zipped({"shuffle.cu": b"\0" * (80 << 20)})
    lying = data.replace(struct.pack("<L", 80 << 20), struct.pack("<L", 100))
    assert lying != data
    assert "cannot be unpacked" in refusal(tmp_path, lying) or "MiB" in refusal(tmp_path, lying)


def test_deeply_nested_archives_are_refused(tmp_path):
    data = zipped({"inner.zip": zipped({"shuffle.cu": "x"})})
    put(tmp_path, {"ann.zip": data})
    assert collect_students(tmp_path, LABS)[0][0].files["shuffle"].data == b"x"
    assert "archives are nested more than two deep" in refusal(
        tmp_path, zipped({"inner.zip": data})
    )


def test_too_many_nested_archives_are_refused(tmp_path):
    many = zipped({f"{i}.zip": zipped({"a.cu": "x"}) for i in range(30)})
    assert refusal(tmp_path, many) == "too many archives"


def test_an_archive_with_too_many_files_is_refused(tmp_path):
    assert refusal(tmp_path, zipped({f"{i}": "" for i in range(10_001)})) == "too many files"


def test_an_oversized_archive_directory_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "DIRECTORY_BYTES", 1000)
    assert (
        refusal(tmp_path, zipped({f"{i}": "" for i in range(100)}))
        == "an archive with too many files"
    )


def test_an_encrypted_archive_is_refused(tmp_path):
    data = bytearray(zipped({"shuffle.cu": "x"}))
    at = data.rindex(b"PK\1\2")
    data[6] |= 1
    data[at + 8] |= 1
    assert refusal(tmp_path, bytes(data)) == "shuffle.cu is encrypted"


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"no archive at all"])
def test_a_file_that_is_not_an_archive_is_refused(tmp_path, data):
    assert "ann.zip is not a readable zip archive" in refusal(tmp_path, data)


@pytest.mark.parametrize("cut", [10, 40, 60, 100])
def test_a_truncated_archive_is_refused(tmp_path, cut):
    whole = zipped({"shuffle.cu": bytes(range(256)) * 40})
    assert "not a readable zip archive" in refusal(tmp_path, whole[:-cut])


def test_an_archive_with_damaged_data_is_refused(tmp_path):
    data = bytearray(zipped({"shuffle.cu": bytes(range(256)) * 40}))
    data[60:80] = b"\xff" * 20
    assert "shuffle.cu cannot be unpacked" in refusal(tmp_path, bytes(data))


def test_an_unknown_compression_method_is_refused(tmp_path):
    data = bytearray(zipped({"shuffle.cu": "x"}))
    at = data.rindex(b"PK\1\2")
    data[8:10] = data[at + 10 : at + 12] = struct.pack("<H", 77)
    assert "cannot be unpacked" in refusal(tmp_path, bytes(data))


def test_names_with_a_nul_and_names_that_are_not_paths(tmp_path):
    put(tmp_path, {"ann.zip": zipped({"./": "", "shuffle.cu": "x", "a//b/./c.txt": "y"})})
    assert collect_students(tmp_path, LABS)[0][0].files["shuffle"].data == b"x"


def test_a_link_in_a_folder_is_not_followed(tmp_path):
    put(tmp_path, {"secret": "s", "in/ann/x.txt": "", "in/bob/shuffle.cu": "good"})
    (tmp_path / "in/ann/shuffle.cu").symlink_to(tmp_path / "secret")
    (ann, bob), _ = collect_students(tmp_path / "in", LABS)
    assert (ann.refused, ann.files) == ("shuffle.cu is a link", {})
    assert bob.files["shuffle"].data == b"good"


def test_a_link_to_a_folder_is_not_followed(tmp_path):
    put(tmp_path, {"other/shuffle.cu": "s", "in/ann/x.txt": "", "in/bob/shuffle.cu": "good"})
    (tmp_path / "in/ann/code").symlink_to(tmp_path / "other")
    assert collect_students(tmp_path / "in", LABS)[0][0].refused == "code is a link"


def test_the_whole_export_may_be_large_but_not_broken(tmp_path):
    path = tmp_path / "all.zip"
    path.write_bytes(b"nothing")
    with pytest.raises(
        UserError, match="all.zip is not a readable zip archive.* SUBMISSIONS must be a folder, a zip or a tar"
    ):
        collect_students(path, LABS)


def test_a_damaged_entry_of_the_export_affects_one_student(tmp_path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("ann/shuffle.cu", "A" * 100)
        archive.writestr("bob/shuffle.cu", "good")
    path = tmp_path / "all.zip"
    path.write_bytes(data.getvalue().replace(b"A" * 100, b"B" * 100))
    (ann, bob), _ = collect_students(path, LABS)
    assert "cannot be unpacked" in ann.refused
    assert bob.files["shuffle"].data == b"good"


def test_the_grader_reports_a_submission_that_is_too_large(tmp_path):
    put(tmp_path, {"ann/shuffle.cu": b"/" * ((1 << 20) + 100)})
    assert len(collect_students(tmp_path, LABS)[0][0].files["shuffle"].data) == (1 << 20) + 1
