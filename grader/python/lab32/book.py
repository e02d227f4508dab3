"""python -m lab32.book FOLDER: all handouts in one HTML and one PDF, in English and in Chinese.

The English book has the labs' handouts, the notes behind them, and the glossary; the Chinese one the
handouts and the glossary. pandoc makes the HTML, with all pictures inside, and WeasyPrint prints it.
"""

import argparse
import os.path
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab32 import ROOT

HANDOUTS = ROOT / "handouts"
STYLE = Path(__file__).parent / "book.css"
TITLES = {
    "en": ("lab32: the handouts", "Contents"),
    "zh": ("lab32 讲义", "目录"),
}


def chapters():
    """The names of the handouts, as the README lists the labs, and the model after them."""
    listed = re.findall(r"\(handouts/(\w+)\.md\)", (ROOT / "README.md").read_text())
    return list(dict.fromkeys(listed))


def pages(language):
    """The files of a book, in order."""
    names = chapters()
    if language == "zh":
        return [HANDOUTS / "zh" / f"{name}.md" for name in names] + [HANDOUTS / "glossary.md"]
    notes = [note for name in names for note in sorted(HANDOUTS.glob(f"{name}-*notes.md"))]
    return [HANDOUTS / f"{name}.md" for name in names] + notes + [HANDOUTS / "glossary.md"]


def anchor(path):
    return path.stem


def chapter(path, book):
    """A page as a chapter: links to other chapters lead to them, those out of the book are words."""
    names = {str(other): anchor(other) for other in book}
    # The Chinese book has no notes: what leads to them stays as words.

    def link(match):
        words, target = match["words"], match["target"]
        if "://" in target:
            return match[0]
        reached = os.path.normpath(path.parent / target.partition("#")[0])
        return f"[{words}](#{names[reached]})" if reached in names else words

    text = re.sub(r"<!--.*?-->\n?", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)]*)\)", link, text)
    text = re.sub(r"(!\[[^\]]*\])\(([^)]*)\)", rf"\1({path.parent}/\2)", text)
    # What a page on a screen hides until it is asked for is there in a book.
    text = text.replace("<details>", "<details open>")
    return re.sub(r"^# (.*)$", rf"# \1 {{#{anchor(path)}}}", text, count=1, flags=re.MULTILINE)


def manuscript(language):
    book = pages(language)
    return "\n\n".join(chapter(path, book) for path in book)


def announced(html):
    """The paragraph before a picture, a table or code is of a class, so that both stay on one page; so is a long table."""
    before = r"<p>(?=(?:(?!</p>).)*</p>\s*<(?:p><img|table|pre))"
    html = re.sub(before, '<p class="announces">', html, flags=re.DOTALL)
    # A short table stays on one page, a long one begins where it is announced.
    return re.sub("<table>", long_or_not, html)


def unbroken(html):
    """No line ends between a number and its unit: 80 %, 1.8 µs. In code a % is an operator."""
    parts = re.split(r"(<(pre|code|style|svg|script)\b.*?</\2>|<[^>]*>)", html, flags=re.DOTALL)
    return "".join(re.sub(r"(?<=\d) (?=(?:%|[nµm]?s|[kKMG]i?B|GB/s|bytes)(?!\w))", "\u00a0", part) if n % 3 == 0 else part for n, part in enumerate(parts) if n % 3 != 2)


LONG = 20  # rows of a table


def long_or_not(match):
    rest = match.string[match.end() :].partition("</table>")[0]
    return '<table class="long">' if rest.count("<tr") > LONG else match[0]


def run(*words):
    outcome = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if outcome.returncode:
        sys.exit(f"lab32: {words[0]} failed: {outcome.stderr.strip()}")


def make(language, folder):
    """The two files of one language."""
    title, contents = TITLES[language]
    html, pdf = (folder / f"lab32-{language}.{kind}" for kind in ("html", "pdf"))
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "book.md"
        text.write_text(manuscript(language))
        run(
            "pandoc", text, "-o", html, "--from=gfm+attributes", "--to=html5", "--standalone",
            "--self-contained", "--section-divs", "--toc", "--toc-depth=1", f"--css={STYLE}",
            "-M", f"title={title}", "-M", f"toc-title={contents}",
            "-M", f"lang={'zh-CN' if language == 'zh' else 'en'}",
        )  # fmt: skip
    html.write_text(unbroken(announced(html.read_text())))
    run("weasyprint", html, pdf)
    return [html, pdf]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for language in TITLES:
        for path in make(language, folder):
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
