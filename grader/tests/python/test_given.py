"""labs/<lab>/given.cu has the same given kernels as the files in labs/ and solutions/."""

import re

import pytest

from lab32 import ROOT, labs

FILES = sorted(ROOT.glob("grader/labs/*/given.cu"))
DEFINITION = re.compile(r"^(?:template <[^\n]*>\n)?__(?:global|device)__[^;{]*\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)  # fmt: skip


def definitions(text):
    # The namespace is needed to tell where names come from.
    return DEFINITION.findall(re.sub(r"\b(?:lab32_given)?::(?=\w)|(?<!\w)::(?=\w)", "", text))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
@pytest.mark.parametrize("folder", ["labs", "solutions"])
def test_given_kernels_equal_those_in_the_students_files(file, folder):
    lab = file.parent.name
    shown = (ROOT / folder / lab / f"{lab}.cu").read_text()
    found = definitions(file.read_text())
    assert found
    for definition in found:
        # The skeleton's comment before a task, which the solution lacks.
        if "_as_given(" in definition and folder == "solutions":
            continue
        assert definition.replace("_as_given(", "(") in shown


def test_each_core_lab_has_given_kernels():
    assert {file.parent.name for file in FILES} >= set(labs.lab_names("core"))
