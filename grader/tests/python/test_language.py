"""grader/tools/lint/language.py refuses what its rules name, and lets plain English pass."""

import sys

import pytest

from lab32 import ROOT

sys.path.insert(0, str(ROOT / "grader/tools/lint"))
import language  # noqa: E402

KNOWN = {"grader/base/text.h", "README.md"}


def kinds(name, text):
    found = [*language.problems(name, text), *language.missing_files(name, text, KNOWN, {"text.h", "README.md"})]
    return {kind for _, kind, _ in found}


@pytest.mark.parametrize("each", language.RULES, ids=lambda each: each.name)
def test_each_rule_refuses_its_example_in_a_comment_a_string_and_a_page(each):
    assert each.name in kinds("x.cpp", f"int a;  // {each.example}\n")
    assert each.name in kinds("x.py", f'"""{each.example}"""\n')
    assert each.name in kinds("x.md", f"{each.example}\n")


def test_a_wide_line_of_prose_is_refused_but_not_a_row_of_a_table_nor_code():
    wide = "word " * 30
    assert kinds("x.md", wide) == {"wide line"}
    assert kinds("x.md", f"| {wide} |\n```\n{wide}\n```\n<!-- figures\n{wide}\n-->\n") == set()


def test_a_comment_and_a_page_may_name_only_files_that_exist():
    assert kinds("x.cpp", "// See base/text.h.\n") == set()
    assert kinds("x.cpp", "// See base/gone.h.\n") == {"no such file"}
    assert kinds("x.md", "`base/gone.h` has it.\n") == {"no such file"}
    assert kinds("x.cpp", 'open("gone.h of a student");\n') == set()


def test_plain_sentences_pass():
    text = "// The submission is checked at the other sizes, too. It takes 1 request and 21 sectors, 1.1 bytes each.\n"
    assert kinds("x.cpp", text) == set()


def test_messages_are_listed_with_their_lines():
    cpp = 'f(\n    "The kernel reads "  // two pieces\n    "past the end.",\n    \'"\', R"(and {} more lines)");\n'
    assert language.messages_of_cpp(cpp) == [(2, "The kernel reads past the end."), (4, "and {} more lines")]
    python = 'def f(n):\n    """A docstring."""\n    return f"{n} files are missing", "no such file"\n'
    assert language.messages_of_python(python) == [(3, "no such file"), (3, "{} files are missing")]
    assert language.messages_of_toml('answer = 4\nhint = "Count the words."\n') == [(2, "Count the words.")]
    found = list(language.messages(["grader/grading/words/words.cpp", "grader/tests/x.cpp"]))
    assert ("grader/grading/words/words.cpp", "The check needs a GPU, and this machine has none.") in [
        (name, text) for name, _, text in found
    ]
