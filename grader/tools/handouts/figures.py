"""python -m handouts.figures: draws handouts/figures/**/*.svg again, in Chinese too if a page of handouts/zh shows
them; updates the tables in the handouts; reports quoted figures that no longer match the data."""

import re
import sys

from handouts import handout, model_figures, overview_figures, quoted_figures, translation
from lab32 import ROOT, labs

FOLDER = ROOT / "handouts/figures"
# {"lab/name.svg": function that draws it}, for the course and for each lab.
FIGURES = overview_figures.FIGURES | model_figures.FIGURES
for lab in labs.modules_by_lab("figures").values():
    FIGURES |= lab.FIGURES
CHINESE = ROOT / "handouts/zh/figures"


def picture_names_on_pages(pages):
    """Returns the names of the pictures that these pages show."""
    return set(re.findall(r"figures/([\w/-]+\.svg)", "".join(page.read_text() for page in pages)))


def figure_texts_by_path():
    """{path: text} of every picture, in each language that shows it."""
    files = {FOLDER / name: str(draw()) for name, draw in FIGURES.items()}
    with translation.using_language("zh"):
        for name in sorted(picture_names_on_pages((ROOT / "handouts/zh").glob("*.md"))):
            files[CHINESE / name] = str(FIGURES[name]())
    return files


def main():
    for path, text in figure_texts_by_path().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    return handout.main([]) or quoted_figures.main([])


if __name__ == "__main__":
    sys.exit(main())
