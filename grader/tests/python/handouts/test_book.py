"""The contents of `make book`, without running pandoc and WeasyPrint."""

import re
from html import unescape

import pytest

from handouts import book
from lab32 import ROOT


@pytest.mark.parametrize("language", book.TITLES)
def test_every_handout_is_a_chapter(language):
    folder = ROOT / "handouts" / ("zh" if language == "zh" else "")
    there = set(folder.glob("*.md")) | {ROOT / "handouts/glossary.md"}
    there.discard(ROOT / "handouts/instructors.md")  # the book is for students
    chosen = book.book_pages(language)
    assert len(chosen) == len(set(chosen))
    assert set(chosen) == there


@pytest.mark.parametrize("language", book.TITLES)
def test_links_and_pictures_of_a_book_are_in_it(language):
    text = book.book_markdown(language)
    anchors = re.findall(r"^# .* \{#([\w-]+)\}$", text, re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(book.book_pages(language))
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)]*)\)", text)
    assert len(links) > 10
    assert {link for link in links if not link.startswith("#")} == set()
    assert {link.removeprefix("#") for link in links} <= set(anchors)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert len(pictures) > 20
    assert all((ROOT / picture).exists() for picture in pictures)
    assert "<!--" not in text


def test_details_are_open_in_the_book():
    assert "<details open>" in book.book_markdown("en")
    assert "<details>" not in book.book_markdown("en")


def test_links_out_of_a_book_become_text(tmp_path):
    page, other = tmp_path / "one.md", tmp_path / "two.md"
    page.write_text("# One\n\n[in](two.md#part), [out](../data/README.md), [web](https://a.b) ![p](f/p.svg)\n")
    text = book.chapter_text(page, [page, other])
    assert text.startswith("# One {#one}")
    assert f"[in](#two), out, [web](https://a.b) ![p]({tmp_path}/f/p.svg)" in text


def test_a_long_table_may_span_two_pages():
    rows = "<tr><td>1</td></tr>"
    tables = [f"<table>\n{rows * n}</table>" for n in (3, 45, 20)]
    assert re.findall(r"<table[^>]*>", book.keep_paragraphs_with_next("<p>x</p>".join(tables))) == [
        "<table>", '<table class="long">', "<table>",
    ]  # fmt: skip


def test_a_paragraph_before_a_picture_stays_on_its_page():
    html = "<p>one</p>\n<p>two</p>\n<p><img src='x'></p>\n<p>three</p>\n<table>"
    classes = re.findall(r"<p( class=.announces.)?>(\w+)", book.keep_paragraphs_with_next(html))
    assert [word for mark, word in classes if mark] == ["two", "three"]


def test_a_number_keeps_its_unit():
    html = '<p title="5 % x">It is 80 % of <code>8 % 3</code>, 1.8 µs, 3 slots.</p><pre>9 % 2</pre>'
    kept = html.replace("80 %", "80\u00a0%").replace("1.8 µs", "1.8\u00a0µs")
    assert book.without_bad_line_breaks(html) == kept.replace("<code>", '<code class="whole">')


def test_words_with_signs_are_not_broken():
    html = "<title>1 GB/s</title><p>4 GB/s, W/p + S, an 8-way conflict, 24–31, is -infinity, not lanes/words; compare-and-swap</p>"
    whole = re.findall(r'<span class="whole">([^<]*)</span>', book.without_bad_line_breaks(html))
    assert whole == ["GB/s", "W/p", "8-way", "24–31", "-infinity"]


@pytest.mark.parametrize(
    "code,lines",
    [
        ("if constexpr (S &gt;= 0)", None),
        ("weigh_swizzled&lt;false&gt;", None),
        ("reduce_eliminate_divergence&lt;8&gt;", ["reduce_", "eliminate_", "divergence<8>"]),
        ("transpose_swizzled&lt;long_type&gt;", ["transpose_", "swizzled<long_type>"]),
        ("l1tex__t_sector_hit_rate.pct", ["l1tex__", "t_", "sector_", "hit_", "rate.", "pct"]),
        ("data/measured/model/predicted.csv", ["data/", "measured/", "model/", "predicted.", "csv"]),
    ],
)
def test_code_breaks_between_its_parts_in_a_narrow_column(code, lines):
    html = book.without_bad_line_breaks(f"<td><code>{code}</code></td>")
    if lines is None:
        assert html == f'<td><code class="whole">{code}</code></td>'
    else:
        assert unescape(html.removeprefix("<td><code>").removesuffix("</code></td>")).split("<wbr>") == lines


def test_code_in_a_text_breaks_after_commas():
    html = book.without_bad_line_breaks("<td>x</td><p><code>ncu --metrics launch__grid_size,sm__inst.sum X</code></p>")
    assert html == "<td>x</td><p><code>ncu --metrics launch__grid_size,<wbr>sm__inst.sum X</code></p>"


def test_columns_are_as_narrow_on_paper_as_on_a_screen():
    html = "<td>a_<wbr>b</td><p>a/<wbr>b</p><td>c</td>"
    assert book.replace_wbr_in_cells(html) == "<td>a_\u200bb</td><p>a/<wbr>b</p><td>c</td>"
