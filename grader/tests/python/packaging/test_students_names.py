"""Files that help texts, skeletons and the rules name exist for a student, who has labs/, handouts/ and a wheel."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab32 import ROOT
from lab32.classroom.__main__ import parse_options

PATH = re.compile(r"(?<![\w/<-])((?:[\w.-]+/)+[\w.-]*[\w])")
COMMANDS = ["grade", "explain", "ptx", "calibrate", "init", "doctor", "devices"]


def names_below_the_project(text):
    """Paths in the text that begin with a folder of the project."""
    tops = {path.name for path in ROOT.iterdir() if path.is_dir()}
    return {path.rstrip(".") for path in PATH.findall(text) if path.partition("/")[0] in tops}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_nothing_that_a_student_lacks(command):
    done = subprocess.run([ROOT / "build/lab32", command, "--help"], capture_output=True, text=True, timeout=60, check=True)
    for path in names_below_the_project(done.stdout):
        assert path.startswith(("labs/", "handouts/")), path
        assert "LAB" in path or (ROOT / path).exists(), path


def test_the_help_of_class_names_its_own_readme(capsys):
    with pytest.raises(SystemExit):
        parse_options(["--help"])
    said = "".join(capsys.readouterr().out.split())  # argparse breaks long lines
    named = Path(sys.modules[parse_options.__module__].__file__).with_name("README.md")
    assert f"{named}describes" in said and named.is_file()


@pytest.mark.parametrize("path", sorted((ROOT / "labs").rglob("*.cu*")), ids=lambda path: path.name)
def test_a_skeleton_names_files_that_a_student_has(path):
    for named in names_below_the_project(path.read_text()):
        assert named.startswith(("labs/", "handouts/")), named
        assert (ROOT / named).exists(), named
