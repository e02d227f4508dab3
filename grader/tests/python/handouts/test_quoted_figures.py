import json

import pytest

from handouts import quoted_figures
from lab32 import ROOT, tables

COPIES = "[measured/h200-coalescing; push; given; n=2^26; times_copy]"


@pytest.mark.parametrize("path", quoted_figures.files_with_quoted_figures(), ids=lambda p: str(p.relative_to(ROOT)))
def test_quoted_figures_match_the_data(path):
    for name, text in quoted_figures.page_or_prose_cell_texts(path):
        assert quoted_figures.check_quoted_figures(text) == [], f"{name}: python -m handouts.quoted_figures reports it at once"


def test_the_handouts_quote_figures():
    text = "".join(path.read_text() for path in ROOT.glob("handouts/*.md"))
    assert len(list(quoted_figures.parse_quoted_number_references(text))) > 100
    for kind in ("documented", "measured", "devices"):
        assert f"[{kind}/" in text


def test_sentences_are_plain_text():
    for path in quoted_figures.files_with_quoted_figures():
        for name, text in quoted_figures.page_or_prose_cell_texts(path):
            for line in text.splitlines():
                assert "<!--" not in line.lstrip("> ")[1:], f"{name}: a comment inside a line"


# ---- a figure that is wrong, or comes from nowhere, is reported ----------------------------------


def page(text, *references):
    return "\n".join([text, "", "<!-- figures", *references, "-->", ""])


def test_a_wrong_figure_and_one_without_reference_are_reported():
    copies = tables.read_measured_table("h200-coalescing").value(
        "times_copy", task="push", form="given", n=1 << 26
    )
    text = page(
        f"The given form takes {copies:.2f} copies,\nnot {copies + 0.1:.2f}, and 12 ms.",
        f"form takes {copies:.2f} = {COPIES}",
        f"not {copies + 0.1:.2f} = {COPIES}",
    )
    (line, wrong), (below, missing) = quoted_figures.check_quoted_figures(text)
    assert (line, below) == (2, 2)
    assert wrong == f"{copies + 0.1:.2f} is not = {copies:.6g}, which is {COPIES}"
    assert missing.startswith("where does 12 come from? Add a line to <!-- figures ... --> at the")
    assert " and 12 = [FILE of data/; " in missing


@pytest.mark.parametrize(
    "text, figure",
    [
        ("it takes 4.63 copies", "4.63"),
        ("77,021 of them", "77,021"),
        ("some 600\n> ns later", "600"),
        ("67 MB", "67"),
        ("320 GB/s", "320"),
        ("33 % of the loads", "33"),
        ("100 million ints", "100"),
        ("it is 8 times the traffic", "8"),
        ("Three times fewer wavefronts", "Three"),
        ("takes twice as long", "twice"),
    ],
)
def test_numbers_that_need_a_reference(text, figure):
    ((line, what),) = quoted_figures.check_quoted_figures(f"first line\n{text}\n")
    assert line == 2
    assert what.startswith(f"where does {figure} come from?")


@pytest.mark.parametrize(
    "text",
    [
        "32 lanes, 128 bytes, 2^22 ints in blocks of 256 threads, since 2017, a 2-way conflict",
        "`4.63` and <!-- 4.63 --> and [a link](4.63.md) and section 4.2 and 1/16",
        "on Ubuntu 24.04 with Python 3.11 and CUDA 13.0",
        "```\n4.63 ms\n```",
        "> ```\n> 4.63 ms\n> ```",
        "## 4.63 ms",
        "<!-- table: documented add3 -->\n| 4.63 ms |\n<!-- end -->",
        "two times in a row; half as many threads",
        "<!-- 12 ms -->",
    ],
)
def test_numbers_that_need_no_reference(text):
    assert quoted_figures.check_quoted_figures(text) == []


@pytest.mark.parametrize(
    "text, reference, line, message",
    [
        ("It is fast.", "takes 12 = 3 * 4", 4, "the text has no figure `takes 12`"),
        ("It takes 120.", "takes 12 = 3 * 4", 4, "the text has no figure `takes 12`"),
        ("It takes 12/5.", "takes 12 = 3 * 4", 4, "the text has no figure `takes 12`"),
        ("It takes `12`.", "12 = 3 * 4", 4, "the text has no figure `12`"),
        ("It takes 12.", "takes 12", 4, "`takes 12` is not a reference; write WORDS FIGURE = "),
        ("It takes 12.", "twelve of 12", 4, "`twelve of 12` is not a reference; write WORDS "),
        ("It takes 12.", "takes 12 = 3 * 5", 1, "12 is not = 15, which is 3 * 5"),
    ],
)
def test_an_invalid_reference_is_reported(text, reference, line, message):
    ((at, what),) = quoted_figures.check_quoted_figures(page(text, reference))
    assert at == line
    assert what.startswith(message)


def test_references_are_in_the_order_of_the_text():
    text = "One takes 12 ms,\nthe other 20 ms."
    in_order = ["takes 12 = 3 * 4", "other 20 = 5 * 4"]
    assert quoted_figures.check_quoted_figures(page(text, *in_order)) == []
    (line, unused), (at, what) = quoted_figures.check_quoted_figures(page(text, *reversed(in_order)))
    assert line == 1
    assert unused.startswith("where does 12 come from?")
    assert at == 6
    assert what.startswith("`takes 12` comes before the figure of the line above")


def test_the_same_figure_twice_has_two_references():
    text = "It takes 12 ms.\n> Here it also\n> takes 12 ms."
    one = "takes 12 = 3 * 4"
    ((line, what),) = quoted_figures.check_quoted_figures(page(text, one))
    assert line == 3
    assert what.startswith("where does 12 come from?")
    assert quoted_figures.check_quoted_figures(page(text, one, one)) == []
    assert quoted_figures.check_quoted_figures(page(text, one, "also takes 12 = 3 * 4")) == []


def test_the_words_of_a_reference_may_hold_signs():
    text = "With 3 × 4 = 12 ms and T = 8 it is (at n < 5) 1,024 MB."
    references = ["= 12 = 3 * 4", "(at n < 5) 1,024 = 2^10"]
    assert quoted_figures.check_quoted_figures(page(text, *references)) == []


def test_the_command_reports_file_and_line(tmp_path, capsys):
    path = tmp_path / "page.md"
    path.write_text("\nIt takes 12 ms.\n")
    assert quoted_figures.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2: where does 12 come from?")
    path.write_text(page("It takes 12 ms.", "12 = 4 * 3"))
    assert quoted_figures.main([str(path)]) == 0


def test_notebooks_are_read_cell_by_cell(tmp_path, capsys):
    cells = [
        {"cell_type": "code", "source": ["12 ms\n"]},
        {"cell_type": "markdown", "source": ["A title\n", "12 ms\n"]},
    ]
    page = tmp_path / "page.ipynb"
    page.write_text(json.dumps({"cells": cells}))
    assert quoted_figures.main([str(page)]) == 1
    assert capsys.readouterr().err.startswith(f"{page}, cell 1:2: where does 12 come from?")


# ---- what a reference says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression, value",
    [
        ("100 * 16 / 128", 12.5),
        ("(2^10 - 24) / 10^3 * -1", -1),
        ("[documented/add1_dram; DRAM sectors, store; value]", 1048576),
        ("[documented/launches; add1; elements] / 2^25", 1),
        ("[documented/launches; add*5; block=64; elements] / 2^25", 1),
        ("[documented/reduction_g80; v1 over v7; time; value]", 8.054 / 0.268),
        ("[documented/shuffle_t4; reduce_shared / reduce_shuffle; value]", 1.0890),
        ("[devices/h200; memory; l2_bytes] / 2^20", 60),
    ],
)
def test_expressions_have_the_right_values(expression, value):
    assert quoted_figures.expression_value(expression) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "expression, message",
    [
        ("12.5", "a number alone names no source"),
        ("16 /", "an expression may have numbers"),
        ("len('a')", "an expression may have numbers"),
        ("[documented/none; value]", "there is no data/documented/none.csv"),
        ("[documented/launches; add1; price]", "no column `price`"),
        ("[documented/launches; add6; grid]", "0 rows of .*launches.csv have add6, expected one"),
        ("[documented/launches; 64; grid]", "5 rows of .*launches.csv have 64, expected one"),
        # In the order of the columns.
        ("[documented/launches; 64; add1; grid]", "0 rows"),
        ("[devices/h200; memory; colour]", "has no `colour` there"),
    ],
)
def test_invalid_expressions_are_refused(expression, message):
    with pytest.raises((ValueError, LookupError), match=message):
        quoted_figures.expression_value(expression)
    ((_, what),) = quoted_figures.check_quoted_figures(page("some 1.5 copies", f"1.5 = {expression}"))
    assert what.startswith(f"1.5: {expression}: ")


@pytest.mark.parametrize(
    "figure, how, reached, agrees",
    [
        ("4.6", "=", 4.64, True),
        ("4.6", "=", 4.66, False),
        ("46", "=", 46.4, True),
        ("1,013,704", "=", 1013704, True),
        ("1,013,704", "=", 1013705, False),
        ("twice", "=", 2, True),
        ("twice", "=", 2.05, False),
        ("Half", "~", 0.51, True),
        ("600", "~", 341, False),
        ("twice", "<", 2.34, True),
        ("twice", "<", 1.99, False),
        ("30", ">", 28.6, True),
        ("30", ">", 31, False),
    ],
)
def test_figures_agree_within_the_stated_precision(figure, how, reached, agrees):
    assert quoted_figures.quoted_figure_agrees(figure, how, reached) is agrees
