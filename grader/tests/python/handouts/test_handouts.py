"""A handout can be finished: the student path is short, defines each word before it uses it, and has the same
contents in both languages."""

import re
from collections import Counter

import pytest

from handouts import figures, translation
from lab32 import ROOT, labs

FOLDER = ROOT / "handouts"
PATHS = sorted(
    path.stem
    for path in FOLDER.glob("*.md")
    if path.stem not in ("glossary", "instructors") and not path.stem.endswith("-notes")
)
# An extra lab needs no translation, notes or glossary.
TRANSLATED = [name for name in PATHS if name not in labs.lab_names("extra")]
MOST_WORDS, MOST_PICTURES = 1200, 5
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def page(name, language="en"):
    folder = FOLDER if language == "en" else FOLDER / language
    return COMMENT.sub("", (folder / f"{name}.md").read_text())


def pictures(text):
    return re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)


def code(text):
    return re.findall(r"^```.*?^```|`[^`]+`", text, re.DOTALL | re.MULTILINE)


def numbers(text):
    """Numbers from ten on, or with decimals: smaller ones are words in one language and digits in the other. Code,
    pictures and links are left out."""
    for pattern in (r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(pattern, " ", text, flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"\d+(?:[,.]\d+)*", text)
    return Counter(number for number in found if len(number) > 1)


def test_there_is_a_path_for_each_lab():
    there = {path.name for path in (ROOT / "labs").iterdir() if (path / f"{path.name}.cu").exists()}
    assert there <= set(PATHS)
    for lab in there & set(labs.lab_names("core")):
        assert (FOLDER / f"{lab}-notes.md").exists()


@pytest.mark.parametrize("name", PATHS)
def test_a_path_can_be_finished(name):
    text = page(name)
    assert len(re.findall(r"\S*\w\S*", text)) <= MOST_WORDS
    assert len(pictures(text)) <= MOST_PICTURES


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_path_can_be_finished(name):
    # A Chinese word has about one and a half characters, and a sentence has fewer words than in English.
    assert len(CHINESE.findall(page(name, "zh"))) <= 2 * MOST_WORDS


@pytest.mark.parametrize("name", TRANSLATED)
def test_both_languages_have_the_same_contents(name):
    english, chinese = page(name), page(name, "zh")
    for what, of in (
        ("headings", lambda text: re.findall(r"^(#+) ", text, re.MULTILINE)),
        ("list items", lambda text: len(re.findall(r"^ *(?:-|\d\.) ", text, re.MULTILINE))),
        ("pictures", pictures),
        ("code", lambda text: Counter(code(text))),
        ("numbers", numbers),
        ("rows of tables", lambda text: len(re.findall(r"^\|", text, re.MULTILINE))),
        ("links", lambda text: re.findall(r"(?<!!)\[[^\]]*\]\((?:\.\./)*([^)]*)\)", text)),
    ):
        assert of(chinese) == of(english), what
    tables = [re.findall(r"<!-- table: (.*?) -->", (folder / f"{name}.md").read_text())
              for folder in (FOLDER, FOLDER / "zh")]  # fmt: skip
    assert tables[0] == tables[1]


def glossary():
    """{English: [Chinese forms]}, without text in brackets."""
    found = {}
    for line in (FOLDER / "glossary.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 4 and not cells[0].startswith(("-", "English")):
            english = re.sub(r" \(.*?\)", "", cells[0])
            chinese = re.sub("\uff08.*?\uff09", "", cells[1]).split("\uff0c")
            found |= dict.fromkeys(english.lower().split(", "), chinese)
            assert all(cells), line
    return found


def defined(text):
    """The words that a page defines: bold words in its second section."""
    return [bold.lower() for bold in re.findall(r"\*\*([^*]+)\*\*", text.split("\n## ")[2])]


@pytest.mark.parametrize("name", TRANSLATED)
def test_each_word_is_defined_once_and_stands_in_the_glossary(name):
    terms, said = defined(page(name)), page(name, "zh")
    assert len(terms) >= 3
    assert len(terms) == len(set(terms))
    for term in terms:
        assert term in glossary(), f"handouts/glossary.md has no `{term}`"
        assert any(form in said for form in glossary()[term]), f"zh/{name}.md: {term}"


@pytest.mark.parametrize("name", TRANSLATED)
def test_chinese_has_chinese_punctuation(name):
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|\(\w, \w\)", "", page(name, "zh"))
    assert not re.findall(
        r"[\u4e00-\u9fff] ?[,;:?!()].{0,9}|.{0,9}[,;:?!()] ?[\u4e00-\u9fff]", text
    )


@pytest.mark.parametrize("name", TRANSLATED)
def test_chinese_tables_name_their_checks_in_chinese(name):
    """`v4：空闲通道`: names of kernels stay, names of counters are translated."""
    cells = re.findall(r"^\| ([^|]*) \|", page(name, "zh"), re.MULTILINE)
    assert [cell for cell in cells if re.search(r"\w: [a-z]", cell)] == []


def test_the_glossary_defines_no_word_twice():
    text = (FOLDER / "glossary.md").read_text()
    first = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    terms = [term for term in first if term != "English" and not term.startswith("---")]
    assert len(terms) == len(set(terms)) > 50


# ---- pictures in both languages --------------------------------------------------------------------


def test_no_chinese_picture_is_stale():
    drawn = {path: text for path, text in figures.figure_texts_by_path().items() if path.is_relative_to(figures.CHINESE)}
    assert set(drawn) == set(figures.CHINESE.rglob("*.svg"))
    for path, text in drawn.items():
        assert path.read_text() == text, "run `make figures`"


def test_both_pictures_show_the_same():
    """Everything except the words: shapes and numbers."""
    for path in figures.CHINESE.rglob("*.svg"):
        english = (figures.FOLDER / path.relative_to(figures.CHINESE)).read_text()
        chinese = path.read_text()
        for text in (english, chinese):
            assert "{" not in text, path
        shapes = [re.sub(r"<(title|text).*?</\1>", "", text) for text in (english, chinese)]
        assert shapes[0] == shapes[1]
        said = [re.findall(r"<text[^>]*>(.*?)</text>", text) for text in (english, chinese)]
        for one, other in zip(*said, strict=True):
            assert numbers(one) == numbers(other), (path.name, one, other)


def test_a_missing_translation_is_an_error():
    with translation.using_language("zh"):
        assert translation.translate("12,288 wavefronts") == "12,288 个波前"
        assert translation.translate("B1 scale: sectors") == "B1 scale\uff1a扇区"
        assert translation.translate("3.5") == "3.5"
        with pytest.raises(LookupError, match="zh.toml has no translation of 'a price list'"):
            translation.translate("a price list")
    assert translation.translate("a price list") == "a price list"


COLUMN = 632  # a picture's width in the book in pixels, 94 % of the column: the smallest of all media


def test_text_in_pictures_is_large_enough_in_the_book():
    """test_gallery finds the other faults of a picture."""
    for path, text in figures.figure_texts_by_path().items():
        width = float(re.search(r'width="([\d.]+)"', text)[1])
        least = min(float(size) for size in re.findall(r'font-size="([\d.]+)"', text))
        if path.name != "overview.svg":  # belongs to the README, which is not in the book
            assert least * min(1, COLUMN / width) >= 9, path


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_table_of_tasks_answers_a_question(language):
    """The number of adds of C1's given kernel is 32 times the required one, which is A2's answer."""
    folder = FOLDER if language == "en" else FOLDER / language
    table = (folder / "shuffle.md").read_text().split("<!-- table: tasks shuffle C -->")[1].split("<!-- end -->")[0]
    assert [len(row.strip("| \n").split("|")) for row in table.strip().splitlines()] == [2] * 5
    assert "262,144" not in page("shuffle", language)


def test_no_box_is_empty():
    for path in [*FOLDER.glob("*.md"), *FOLDER.glob("zh/*.md")]:
        assert not re.search(r"(^|\n)(?!>)[^\n]*\n>\s*\n(?!>)", path.read_text()), path.name
