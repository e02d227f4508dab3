"""`make book`: what goes into it. pandoc and WeasyPrint are not asked."""

import re

import pytest

from lab32 import ROOT, book


@pytest.mark.parametrize("language", book.TITLES)
def test_every_handout_is_a_chapter(language):
    folder = ROOT / "handouts" / ("zh" if language == "zh" else "")
    there = set(folder.glob("*.md")) | {ROOT / "handouts/glossary.md"}
    chosen = book.pages(language)
    assert len(chosen) == len(set(chosen))
    assert set(chosen) == there


@pytest.mark.parametrize("language", book.TITLES)
def test_links_and_pictures_of_a_book_are_in_it(language):
    text = book.manuscript(language)
    anchors = re.findall(r"^# .* \{#([\w-]+)\}$", text, re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == len(book.pages(language))
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)]*)\)", text)
    assert len(links) > 10
    assert {link for link in links if not link.startswith("#")} == set()
    assert {link.removeprefix("#") for link in links} <= set(anchors)
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert len(pictures) > 20
    assert all((ROOT / picture).exists() for picture in pictures)
    assert "<!--" not in text


def test_nothing_stays_folded():
    assert "<details open>" in book.manuscript("en")
    assert "<details>" not in book.manuscript("en")


def test_what_leads_out_of_a_book_is_words(tmp_path):
    page, other = tmp_path / "one.md", tmp_path / "two.md"
    page.write_text("# One\n\n[in](two.md#part), [out](../data/README.md), [web](https://a.b) ![p](f/p.svg)\n")
    text = book.chapter(page, [page, other])
    assert text.startswith("# One {#one}")
    assert f"[in](#two), out, [web](https://a.b) ![p]({tmp_path}/f/p.svg)" in text


def test_a_long_table_may_be_on_two_pages():
    rows = "<tr><td>1</td></tr>"
    tables = [f"<table>\n{rows * n}</table>" for n in (3, 45, 20)]
    assert re.findall(r"<table[^>]*>", book.announced("<p>x</p>".join(tables))) == [
        "<table>", '<table class="long">', "<table>",
    ]  # fmt: skip


def test_what_announces_a_picture_stays_with_it():
    html = "<p>one</p>\n<p>two</p>\n<p><img src='x'></p>\n<p>three</p>\n<table>"
    classes = re.findall(r"<p( class=.announces.)?>(\w+)", book.announced(html))
    assert [word for mark, word in classes if mark] == ["two", "three"]


def test_a_number_keeps_its_unit():
    html = '<p title="5 % x">It is 80 % of <code>8 % 3</code>, 1.8 µs, 3 slots.</p><pre>9 % 2</pre>'
    assert book.unbroken(html) == html.replace("80 %", "80\u00a0%").replace("1.8 µs", "1.8\u00a0µs")
