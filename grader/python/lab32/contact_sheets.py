"""python -m lab32.contact_sheets FOLDER [PART...]: everything that is drawn, at reading size, on few sheets.

Each picture of the handouts, each picture and plot of graded labs, their report on a wide and a narrow
screen, light, dark and printed, the executed notebooks, the book: PNG files to be looked at one by one.
`make figures`, `make notebooks` and `make book` make what is shown. labs/ and solutions/ are graded, unless
--result names results of `lab32 grade --pictures --format json`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from lab32 import ROOT, browser
from lab32.pictures import draw, kinds
from lab32.pictures.access import draw_access
from lab32.pictures.png import png
from lab32.report import page as report
from lab32.report import plots
from lab32.results import BINARY, parse

WIDTH, HEIGHT, GAP, CAPTION = 1560, 1560, 12, 18  # of a sheet, in pixels of what it shows: two columns
A4 = 60  # pixels an inch: six pages a sheet


class Sheets:
    """Pictures from left to right and from top to bottom, each below its name."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count = folder, name, 0
        self.font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf", 12)
        self.fresh()

    def fresh(self):
        self.sheet = Image.new("RGB", (WIDTH, HEIGHT), "#c8c8c8")
        self.x, self.y, self.row, self.right, self.used = GAP, GAP, 0, 0, False

    def add(self, caption, image):
        image = image.convert("RGB")
        if image.width > WIDTH - 2 * GAP:
            image = image.resize((WIDTH - 2 * GAP, image.height * (WIDTH - 2 * GAP) // image.width))
        if image.height > HEIGHT - 2 * GAP - CAPTION:  # in pieces
            high = HEIGHT - 2 * GAP - CAPTION
            for top in range(0, image.height, high):
                self.add(f"{caption}, from {top}", image.crop((0, top, image.width, min(top + high, image.height))))
            return
        if self.x + image.width + GAP > WIDTH:
            self.x, self.y, self.row = GAP, self.y + self.row + GAP, 0
        if self.y + CAPTION + image.height + GAP > HEIGHT:
            self.flush()
        pen = ImageDraw.Draw(self.sheet)
        pen.text((self.x, self.y), caption[: max(20, image.width // 7)], "black", self.font)
        self.sheet.paste(image, (self.x, self.y + CAPTION))
        self.x += image.width + GAP
        self.right = max(self.right, self.x)
        self.row, self.used = max(self.row, CAPTION + image.height), True

    def flush(self):
        if self.used:
            self.count += 1
            file = self.folder / f"{self.name}-{self.count:02}.png"
            self.sheet.crop((0, 0, self.right, self.y + self.row + GAP)).save(file)
            print(f"wrote {file}")
        self.fresh()


def rasters(drawn, scratch):
    """[(name, text of an SVG)] as the browser shows them: [(name, image)]."""
    for first in range(0, len(drawn), 20):
        some, body, boxes, y = drawn[first : first + 20], "", [], 0
        for name, text in some:
            width, height = (round(float(v)) for v in ElementTree.fromstring(text).get("viewBox").split()[2:])
            file = scratch / f"{len(boxes)}.svg"
            file.write_text(text)
            body += f'<img src="{file.name}" style="position:absolute;left:0;top:{y}px;width:{width}px;height:{height}px">'
            boxes.append((name, (0, y, width, y + height)))
            y += height
        page, shot = scratch / "all.html", scratch / "all.png"
        page.write_text(f"<!DOCTYPE html><body>{body}</body>")
        browser.chromium(scratch, f"--window-size=1600,{y}", f"--screenshot={shot}", f"file://{page}")
        with Image.open(shot) as image:
            for name, box in boxes:
                yield name, image.crop(box)


def pages(pdf, scratch, dots=A4):
    subprocess.run(["pdftoppm", "-r", str(dots), "-png", str(pdf), str(scratch / "page")], check=True)
    for file in sorted(scratch.glob("page-*.png")):
        with Image.open(file) as image:
            yield f"page {file.stem[5:]}", image.copy()
        file.unlink()


def shots(page, scratch, width, dark=False):
    top = 0
    for file in browser.screenshots(page, scratch, width, dark):
        with Image.open(file) as image:
            yield f"{width} wide{', dark' * dark}, {top}", image.crop((0, 0, width, image.height))
            top += image.height


# ---- the parts -------------------------------------------------------------------------------------


def handouts(folder, scratch, _):
    for language, place in (("en", "handouts/figures"), ("zh", "handouts/zh/figures")):
        sheets = Sheets(folder, f"handouts-{language}")
        drawn = [(file.stem, file.read_text()) for file in sorted((ROOT / place).glob("*.svg"))]
        for name, image in rasters(drawn, scratch):
            sheets.add(name, image)
        sheets.flush()


def graded(scratch):
    """Results of labs/ and solutions/."""
    for directory in ("labs", "solutions"):
        file = scratch / f"{directory}.json"
        command = [BINARY, "grade", "--dir", directory, "--pictures", "--format", "json", "--seed", "1", "-o", file]
        if subprocess.run(command, cwd=ROOT, check=False).returncode in (0, 1):
            yield file


def canvases(result):
    """Each plot and picture of a result once: [(where, Canvas)]."""
    seen = set()
    for lab in result.labs:
        found = [(make.__name__, make(lab)) for make in (plots.ladder, plots.steps, plots.documented)]
        found.append(("times", plots.times(lab, result.device)))
        for test in lab.tests:
            launch = test.pictures or {}
            for kind in kinds(launch) if "kernel" in launch else ():
                if kind == "access":
                    found += [(f"{test.name}, line {a['line']}", draw_access(a, a["worst"])) for a in launch["accesses"]]
                else:
                    found.append((f"{test.name}, {kind}", draw(launch, kind)))
        for where, canvas in found:
            if canvas and (key := canvas.inner()) not in seen:
                seen.add(key)
                yield f"{lab.name}: {where}", canvas


def pictures(folder, scratch, results):
    for file in results:
        drawn = list(canvases(parse(file.read_text(), source=file)))
        sheets = Sheets(folder, f"pictures-{file.stem}")
        for name, image in rasters([(name, str(canvas)) for name, canvas in drawn], scratch):
            sheets.add(name, image)
        sheets.flush()
        # One of each kind as PNG: another program draws it.
        sheets, kept = Sheets(folder, f"png-{file.stem}"), {}
        for name, canvas in drawn:
            kept.setdefault(name.rsplit(" ", 1)[-1] if ", line" not in name else name.split(":")[0], (name, canvas))
        for name, canvas in kept.values():
            path = scratch / "one.png"
            path.write_bytes(png(canvas))
            with Image.open(path) as image:
                sheets.add(name, image.resize((image.width // 2, image.height // 2)))
        sheets.flush()


def reports(folder, scratch, results):
    for file in results:
        page = scratch / "report.html"
        page.write_text(report.report_page(parse(file.read_text(), source=file), [], datetime.now()))
        for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
            sheets = Sheets(folder, f"report-{file.stem}-{width}{'-dark' * dark}")
            for name, image in shots(page, scratch, width, dark):
                sheets.add(name, image)
            sheets.flush()
        sheets = Sheets(folder, f"report-{file.stem}-printed")
        for name, image in pages(browser.printed(page, scratch), scratch):
            sheets.add(name, image)
        sheets.flush()


def notebooks(folder, scratch, _):
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(mathjax_url="", require_js_url="")
    for file in sorted((ROOT / "build/notebooks").glob("*.ipynb")):
        page = scratch / "notebook.html"
        page.write_text(exporter.from_filename(str(file))[0])
        sheets = Sheets(folder, f"notebook-{file.stem.removesuffix('-report')}")
        for name, image in shots(page, scratch, 1000):
            sheets.add(name, image)
        sheets.flush()


def book(folder, scratch, _):
    for language in ("en", "zh"):
        sheets = Sheets(folder, f"book-{language}")
        for name, image in pages(ROOT / f"build/book/lab32-{language}.pdf", scratch):
            sheets.add(name, image)
        sheets.flush()
        sheets = Sheets(folder, f"book-{language}-html")
        for name, image in shots(ROOT / f"build/book/lab32-{language}.html", scratch, 760):
            sheets.add(name, image)
        sheets.flush()


PARTS = {"handouts": handouts, "pictures": pictures, "reports": reports, "notebooks": notebooks, "book": book}  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--result", type=Path, action="append", default=[], metavar="FILE", help="what `lab32 grade --pictures --format json` wrote; may be given again")  # fmt: skip
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    if not browser.CHROMIUM or not shutil.which("pdftoppm"):
        sys.exit("lab32.contact_sheets: Chromium and pdftoppm are needed: grader/setup/setup sheets")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        asked = {"pictures", "reports"} & set(options.parts)
        results = options.result or (list(graded(scratch)) if asked else [])
        for part in options.parts:
            PARTS[part](options.folder, scratch, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
