"""python -m handouts.figures: draws handouts/figures/**/*.svg again, and in Chinese those that the pages of
handouts/zh show; makes the tables in the handouts again, and tells which figures in their sentences are
no longer so."""

import re
import sys

from handouts import handout, model_figures, overview_figures, quoted_figures, translation
from lab32 import ROOT, labs

FOLDER = ROOT / "handouts/figures"
# {"lab/name.svg": function that draws it}: of the course, and of each lab.
FIGURES = overview_figures.FIGURES | model_figures.FIGURES
for lab in labs.modules("figures").values():
    FIGURES |= lab.FIGURES
CHINESE = ROOT / "handouts/zh/figures"


def shown(pages):
    """The names of the pictures that these pages show."""
    return set(re.findall(r"figures/([\w/-]+\.svg)", "".join(page.read_text() for page in pages)))


def drawn():
    """{path: text} of every picture, in each language that shows it."""
    files = {FOLDER / name: str(draw()) for name, draw in FIGURES.items()}
    with translation.language("zh"):
        for name in sorted(shown((ROOT / "handouts/zh").glob("*.md"))):
            files[CHINESE / name] = str(FIGURES[name]())
    return files


def main():
    for path, text in drawn().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    return handout.main([]) or quoted_figures.main([])


if __name__ == "__main__":
    sys.exit(main())
