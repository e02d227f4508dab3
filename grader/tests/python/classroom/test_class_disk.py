"""A failure of the machine is reported in one line with the place, costs no student points, and gives
status 2."""

import os
import resource
import subprocess

import pytest
from class_tools import Classroom, class_of, put

# Root can write everywhere, and the tests may run as root.
NOBODY = 65534


@pytest.fixture
def classroom(tmp_path):
    made = Classroom(tmp_path)
    class_of(made.submissions, {f"s{i}": f"// score {i}" for i in range(3)})
    return made


def limited_to(size):
    """Simulates a full disk: no larger file can be written."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


def test_a_full_disk_costs_no_student_points(classroom):
    assert classroom.run(before=limited_to(600)) == 2
    assert "File too large" in classroom.err_text
    assert not any(path.stat().st_size for path in (classroom.out / "results").iterdir())
    assert classroom.run() == 0
    assert classroom.scores() == {"s0": "0", "s1": "1", "s2": "2"}


def test_a_disk_that_is_full_from_the_first_byte(classroom):
    assert classroom.run(before=limited_to(0)) == 2
    assert classroom.err_text.startswith(f"lab32: {classroom.out}/")
    assert classroom.err_text.endswith(": File too large\n")
    assert classroom.err_text.count("\n") == 1


def test_a_disk_that_fills_up_when_scores_are_written(classroom):
    assert classroom.run() == 0
    before = (classroom.out / "scores.csv").read_bytes()
    class_of(classroom.submissions, {"x" * 100: ""})
    assert classroom.run() == 0
    assert classroom.run(before=limited_to(len(before) - 10)) == 2
    assert classroom.err_text == f"lab32: {classroom.out}/scores.csv: File too large\n"
    assert "s2" in classroom.rows(), "the old one is whole"


def test_a_full_standard_output_is_reported(classroom):
    def full():
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    assert classroom.run(before=full) == 2
    assert classroom.err_text.endswith("lab32: standard output: No space left on device\n")
    assert len(classroom.rows()) == 3


@pytest.mark.slow
def test_closed_standard_streams_do_no_harm(classroom):
    command = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *classroom.command()]
    assert subprocess.run(command, env=classroom.environment, timeout=60).returncode == 0
    assert classroom.scores() == {"s0": "0", "s1": "1", "s2": "2"}


def test_an_unwritable_output_folder_is_reported(classroom):
    classroom.out.mkdir()
    classroom.out.chmod(0o555)
    become = (lambda: os.setuid(NOBODY)) if os.geteuid() == 0 else (lambda: None)
    for path in (classroom.folder, *classroom.folder.parents):
        if path.owner() == classroom.folder.owner() and len(path.parts) > 2:
            path.chmod(0o755)
    assert classroom.run(before=become) == 2
    assert (
        classroom.err_text == f"lab32: {classroom.out}/.class: cannot be created: Permission denied\n"
    )


def test_an_output_folder_that_is_a_file_is_reported(classroom):
    put(classroom.folder, {"out": "x"})
    assert classroom.run() == 2
    assert (
        classroom.err_text
        == f"lab32: {classroom.out}/.class/records: cannot be created: Not a directory\n"
    )


def test_an_output_folder_with_other_files_is_refused(classroom):
    put(classroom.out, {"thesis.tex": "x"})
    assert classroom.run() == 2
    assert classroom.err_text == (
        f"lab32: {classroom.out}: it holds files that `lab32 class` did not write; choose another -o\n"
    )


@pytest.mark.parametrize("inside", [".", "graded"])
def test_an_output_folder_among_the_submissions_is_refused(classroom, inside):
    classroom.out = classroom.submissions / inside
    assert classroom.run() == 2
    assert "OUT lies in SUBMISSIONS, and would be taken for a student's" in classroom.err_text


@pytest.mark.parametrize("change", ["missing", "not executable"])
def test_a_missing_grader_is_reported(classroom, change):
    if change == "missing":
        classroom.binary.unlink()
    else:
        classroom.binary.chmod(0o644)
    assert classroom.run() == 2
    assert classroom.err_text == f"lab32: there is no {classroom.binary}: run `make build` first\n"
    assert not classroom.out.exists()


def test_a_grader_that_disappears_during_the_run_is_reported(classroom):
    class_of(classroom.submissions, {"s0": f"// machine once {classroom.folder}/flag"})
    classroom.binary.write_text(
        classroom.binary.read_text().replace(
            "    labs = []\n", "    os.unlink(sys.argv[0])\n    labs = []\n"
        )
    )
    assert classroom.run() == 2
    assert {row["status"] for row in classroom.rows().values()} == {"not graded"}
    assert f"  s1: {classroom.binary}: No such file or directory\n" in classroom.err_text


@pytest.mark.parametrize(
    "options, words",
    [
        (["--labs", "shuffel"], "there is no lab `shuffel`; the labs are: bank_conflicts, coalescing, "),
        (["--labs", ","], "--labs names no lab"),
        (["--jobs", "0"], "argument --jobs: 0 is not a whole number from 1 to 10000; see `lab32 class --help`"),
        (["--seed", "-1"], "argument --seed: -1 is not a whole number from 0 to 18446744073709551615; see"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate; see"),
        (["--course", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["--roster", "none.csv"], "none.csv: cannot be read: No such file or directory"),
        (["--gradebook", "none.csv"], "none.csv: cannot be read: No such file or directory"),
        (["--rubric", "/none"], "/none: no such folder; --rubric names the folder of the LAB.toml files"),
        (["--executor", "slurm"], "--executor slurm: srun is not installed here"),
        (["--time", "soon"], "--time soon: write minutes, H:MM:SS or D-H:MM"),
        (["--labs", "swizzle\x1b[2J"], "there is no lab `swizzle\\x1b[2J`"),
    ],
)  # fmt: skip
def test_bad_options_are_reported_before_grading_begins(classroom, options, words):
    classroom.environment["PATH"] = "/nowhere"
    assert classroom.run(*options, executor=None) == 2
    assert classroom.err_text.startswith(f"lab32: {words}")
    assert classroom.err_text.count("\n") == 1
    assert classroom.graded() == []


def test_missing_submissions_are_reported(classroom):
    classroom.submissions = classroom.folder / "none"
    assert classroom.run() == 2
    assert classroom.err_text == f"lab32: {classroom.submissions}: no such file or folder\n"


def test_a_folder_without_files_of_a_lab_is_reported(classroom):
    classroom.submissions = put(classroom.folder / "other", {"ann/notes.txt": "", "bob/x.cu": ""})
    assert classroom.run() == 2
    assert "no file there is named after a lab" in classroom.err_text
    assert "name the labs with --labs" in classroom.err_text
