"""Every promise of SECURITY.md names an existing test."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

GRADER = Path(__file__).parents[2]
CASE = re.compile(r'TEST_(?:CASE|EACH_LAB)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def cases():
    """The names of all C++ tests."""
    for file in GRADER.rglob("test_*.cpp"):
        for strings in CASE.findall(file.read_text()):
            yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings))


def test_every_test_named_in_security_exists():
    names = set(cases())
    text = (GRADER / "SECURITY.md").read_text()
    modules = "base|core|grading|report|toolchain"
    claimed = re.findall(rf"`((?:{modules}): [^`]*)`", text)
    assert len(claimed) > 30
    missing = [c for c in claimed if not any(fnmatchcase(name, c) for name in names)]
    assert not missing, missing


def test_every_claim_in_security_names_a_test():
    text = (GRADER / "SECURITY.md").read_text()
    for table in text.split("| claim | test |\n")[1:]:
        for row in table.split("\n\n")[0].splitlines()[1:]:
            assert "`" in row.rsplit("|", 2)[1], row
