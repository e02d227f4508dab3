import re

import pytest

from handouts import figures, handout
from lab32 import ROOT


@pytest.mark.parametrize("path", handout.markdown_files_with_tables(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_table_is_stale(path):
    text = path.read_text()
    assert text.count("<!-- table:") == len(handout.MARKED.findall(text)), "a marker is not closed"
    assert handout.updated_page(path) == text, "run `make figures`"


def test_the_handout_has_tables():
    text = (ROOT / "handouts/coalescing-notes.md").read_text()
    assert text.count("<!-- table:") >= 4


def test_a_changed_number_is_noticed(tmp_path, capsys):
    marked = "<!-- table: documented add3 -->\n<!-- end -->\n"
    path = tmp_path / "page.md"
    path.write_text(handout.update_tables(marked).replace("128 of 128", "127 of 128"))
    assert handout.main(["--check", str(path)]) == 1
    assert "a table is stale; run `make figures`" in capsys.readouterr().err
    assert handout.main([str(path)]) == 0
    assert handout.main(["--check", str(path)]) == 0


def test_an_unknown_table_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="unknown table `price list`; there are: labs, tasks"):
        handout.markdown_table_of_marker("price list")


def test_a_marker_chooses_rows_by_their_first_cells():
    table = "| n | form | ms |\n| --- | --- | ---: |\n| 1 | `a` | 5 |\n| 1 | b | 6 |\n| 2 | b | 7 |"
    head = table.splitlines()[:2]
    assert handout.select_markdown_table_rows(table, ["1"]).splitlines() == [
        *head,
        "| 1 | `a` | 5 |",
        "| 1 | b | 6 |",
    ]
    assert handout.select_markdown_table_rows(table, ["1 a", "2"]).splitlines() == [
        *head,
        "| 1 | `a` | 5 |",
        "| 2 | b | 7 |",
    ]
    with pytest.raises(LookupError, match="the table has no row `3`"):
        handout.select_markdown_table_rows(table, ["1", "3"])
    assert handout.markdown_table_of_marker("occupancy_registers | given").count("\n") == 2


@pytest.mark.parametrize("name", figures.FIGURES)
def test_no_figure_is_stale(name):
    assert (figures.FOLDER / name).read_text() == str(figures.FIGURES[name]()), "run `make figures`"


def test_every_figure_is_drawn_and_shown():
    drawn = {str(path.relative_to(figures.FOLDER)) for path in figures.FOLDER.rglob("*.svg")}
    assert drawn == set(figures.FIGURES)
    pages = [ROOT / "README.md", *sorted((ROOT / "handouts").glob("*.md"))]
    shown = set(re.findall(r"figures/([\w/-]+\.svg)", "".join(p.read_text() for p in pages)))
    assert shown == drawn


def test_links_have_existing_targets():
    for page in [
        ROOT / "README.md",
        *ROOT.glob("labs/*.md"),
        *ROOT.glob("handouts/**/*.md"),
        *ROOT.glob("data/**/*.md"),
    ]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_cells_of_several_lines_are_joined():
    rows = handout.golden_measured_and_expected("occupancy-skeleton")
    assert rows["B6 match: rows that stay in L1"] == ("1024 KB under way", "192 KB of L1")
    assert rows["B3 trace: blocks of 1024"] == ("1 block, 40 registers", "2 blocks")
    assert "B6 match: rows that stay in" not in rows
