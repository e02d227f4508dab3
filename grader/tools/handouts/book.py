"""python -m handouts.book FOLDER: all handouts in one HTML and one PDF, in English and in Chinese.

The English book has the labs' handouts, the notes behind them, and the glossary; the Chinese one the
handouts and the glossary. pandoc makes the HTML, with all pictures inside, and WeasyPrint prints it.
"""

import argparse
import os.path
import re
import subprocess
import sys
import tempfile
from html import escape, unescape
from pathlib import Path

from lab32 import ROOT, labs
from lab32.text_format import keep_units_together

HANDOUTS = ROOT / "handouts"
STYLE = Path(__file__).parent / "book.css"
TITLES = {
    "en": ("lab32: the handouts", "Contents"),
    "zh": ("lab32 讲义", "目录"),
}


def chapter_names():
    """The names of the handouts: the labs in the order of the course, then the model."""
    return [name for name in (*labs.lab_names(), "model") if (HANDOUTS / f"{name}.md").exists()]


def book_pages(language):
    """Lists the Markdown files of the book in a language, in the order of its chapters."""
    names = chapter_names()
    if language == "zh":
        translated = [HANDOUTS / "zh" / f"{name}.md" for name in names]
        return [page for page in translated if page.exists()] + [HANDOUTS / "glossary.md"]
    notes = [note for name in names for note in sorted(HANDOUTS.glob(f"{name}-*notes.md"))]
    return [HANDOUTS / f"{name}.md" for name in names] + notes + [HANDOUTS / "glossary.md"]


def chapter_anchor(path):
    return path.stem


def chapter_text(path, book):
    """A page as a chapter: links to other chapters become internal links, links out of the book become plain text."""
    names = {str(other): chapter_anchor(other) for other in book}
    # The Chinese book has no notes, so links to them become plain text.

    def internal_link(match):
        words, target = match["words"], match["target"]
        if "://" in target:
            return match[0]
        reached = os.path.normpath(path.parent / target.partition("#")[0])
        return f"[{words}](#{names[reached]})" if reached in names else words

    text = re.sub(r"<!--.*?-->\n?", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)]*)\)", internal_link, text)
    text = re.sub(r"(!\[[^\]]*\])\(([^)]*)\)", rf"\1({path.parent}/\2)", text)
    # Sections that a page on a screen folds are open in a book.
    text = text.replace("<details>", "<details open>")
    return re.sub(r"^# (.*)$", rf"# \1 {{#{chapter_anchor(path)}}}", text, count=1, flags=re.MULTILINE)


def book_markdown(language):
    book = book_pages(language)
    return "\n\n".join(chapter_text(path, book) for path in book)


def keep_paragraphs_with_next(html):
    """Marks the paragraph before a picture, a table or code with a class that keeps both on one page. Marks long tables."""
    before = r"<p>(?=(?:(?!</p>).)*</p>\s*<(?:p><img|table|pre))"
    html = re.sub(before, '<p class="announces">', html, flags=re.DOTALL)
    # A short table stays on one page. A long one may break, and starts on the page of its paragraph.
    return re.sub("<table>", mark_long_table, html)


# Words that a browser would break at a slash or a hyphen: GB/s, W/p, N-way, 24–31, -infinity.
WHOLE = r"(?<![\w/-])(?:\w{1,2}/\w|\w-way|\d+[–-]\d+|-infinity)(?![\w/-])"
SHORT = 24  # characters of code that stay on one line
# Where a longer name may be broken, never inside <…>: in a narrow column after any character that joins its
# parts, elsewhere after a comma or a slash only.
JOINT, NARROW = (rf"((?:{joint})(?=\w))(?![^<]*>)" for joint in ("[/,]", "_+|[./,]|::"))


def without_bad_line_breaks(html):
    """Prevents line breaks between a number and its unit (80 %, 1.8 µs) and inside words with signs. In code, % is an
    operator; short code is not broken, and longer code breaks between its parts."""
    parts = re.split(r"(<(?:pre|style|svg|script|title)\b.*?</(?:pre|style|svg|script|title)>|<code>.*?</code>|<[^>]*>)", html, flags=re.DOTALL)
    joint, out = JOINT, []
    for part in parts:
        if part.startswith(("<td", "</td")):
            joint = JOINT if part.startswith("</") else NARROW
        out.append(breakable_code(part, joint) if part.startswith("<") else keep_short_terms_together(part))
    return "".join(out)


def keep_short_terms_together(words):
    return re.sub(WHOLE, r'<span class="whole">\g<0></span>', keep_units_together(words))


def breakable_code(tag, joint):
    """Tags are returned unchanged; long inline code gets markers where it may be broken."""
    if not (code := re.fullmatch(r"<code>([^<]*)</code>", tag, flags=re.DOTALL)):
        return tag
    text = unescape(code[1])
    if len(text) <= SHORT:
        return f'<code class="whole">{code[1]}</code>'
    return "<code>" + "<wbr>".join(escape(piece, quote=False) for piece in split_after_matches(text, joint)) + "</code>"


def split_after_matches(text, joint):
    """Splits `l1tex__t_sectors.sum` into the parts between which it may be broken."""
    return re.sub(joint, "\\1\0", text).split("\0")


def replace_wbr_in_cells(html):
    """Adapts the HTML for WeasyPrint, which ignores <wbr> when it computes the width of columns."""
    return re.sub(r"<td\b.*?</td>", lambda cell: cell[0].replace("<wbr>", "\u200b"), html, flags=re.DOTALL)


LONG = 20  # rows from which a table counts as long


def mark_long_table(match):
    rest = match.string[match.end() :].partition("</table>")[0]
    return '<table class="long">' if rest.count("<tr") > LONG else match[0]


def run_or_exit(*words):
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if outcome.returncode:
        sys.exit(f"lab32: {words[0]} failed: {outcome.stderr.strip()}")


def make_book(language, folder):
    """Writes the HTML and the PDF of the book in one language."""
    title, contents = TITLES[language]
    html, pdf = (folder / f"lab32-{language}.{kind}" for kind in ("html", "pdf"))
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "book.md"
        text.write_text(book_markdown(language))
        run_or_exit(
            "pandoc", text, "-o", html, "--from=gfm+attributes", "--to=html5", "--standalone",
            "--self-contained", "--section-divs", "--toc", "--toc-depth=1", f"--css={STYLE}",
            "-M", f"title={title}", "-M", f"toc-title={contents}",
            "-M", f"lang={'zh-CN' if language == 'zh' else 'en'}",
        )  # fmt: skip
    text = without_bad_line_breaks(keep_paragraphs_with_next(html.read_text()))
    html.write_text(text)
    with tempfile.TemporaryDirectory() as scratch:
        paper = Path(scratch) / "book.html"
        paper.write_text(replace_wbr_in_cells(text))
        run_or_exit("weasyprint", paper, pdf)
    return [html, pdf]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for language in TITLES:
        for path in make_book(language, folder):
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
