"""python -m handouts.contact_sheets FOLDER [PART...]: everything that the project draws, on a few large sheets.

It shows the pictures of the handouts; pictures and plots of empty, skeleton, half-done and solved labs, without those
that differ only in numbers (distinct_pictures.py); reports on a wide and a narrow screen, light, dark and printed; the
notebooks; the pages of a class; the book. The sheets are PNG files, to be inspected one by one. `make figures`, `make
notebooks` and `make book` create the contents; `make sheets` runs the last two first.
"""

import argparse
import functools
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import nbformat
from PIL import Image, ImageDraw, ImageFont

from handouts import book, browser, distinct_pictures
from lab32 import ROOT
from lab32.pictures.png import png_bytes
from lab32.report import page as report
from lab32.results import BINARY, load_result

WIDTH, HEIGHT, GAP, CAPTION = 1560, 1560, 12, 18  # of a sheet in pixels; its contents have two columns
A4 = 60  # pixels per inch: six pages fit on a sheet


DONE = []  # (name, sheets, tiles)


class ContactSheetWriter:
    """Places pictures from left to right and from top to bottom, each below its name."""

    def __init__(self, folder, name):
        self.folder, self.name, self.count, self.tiles = folder, name, 0, 0
        self.font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf", 12)
        self.start_contact_sheet()

    def start_contact_sheet(self):
        self.sheet = Image.new("RGB", (WIDTH, HEIGHT), "#c8c8c8")
        self.x, self.y, self.row, self.right, self.used = GAP, GAP, 0, 0, False

    def add(self, caption, image):
        image = image.convert("RGB")
        if image.width > WIDTH - 2 * GAP:
            image = image.resize((WIDTH - 2 * GAP, image.height * (WIDTH - 2 * GAP) // image.width))
        if image.height > HEIGHT - 2 * GAP - CAPTION:  # too high for a sheet: it is cut into pieces
            high = HEIGHT - 2 * GAP - CAPTION
            for top in range(0, image.height, high):
                self.add(f"{caption}, from {top}", image.crop((0, top, image.width, min(top + high, image.height))))
            return
        if self.x + image.width + GAP > WIDTH:
            self.x, self.y, self.row = GAP, self.y + self.row + GAP, 0
        if self.y + CAPTION + image.height + GAP > HEIGHT:
            self.save_contact_sheet()
        pen = ImageDraw.Draw(self.sheet)
        pen.text((self.x, self.y), caption[: max(20, image.width // 7)], "black", self.font)
        self.sheet.paste(image, (self.x, self.y + CAPTION))
        self.x += image.width + GAP
        self.right = max(self.right, self.x)
        self.row, self.used = max(self.row, CAPTION + image.height), True
        self.tiles += 1

    def save_contact_sheet(self):
        if self.used:
            self.count += 1
            file = self.folder / f"{self.name}-{self.count:02}.png"
            self.sheet.crop((0, 0, self.right, self.y + self.row + GAP)).save(file)
        self.start_contact_sheet()

    def __enter__(self):
        for old in self.folder.glob(f"{self.name}-[0-9][0-9].png"):
            old.unlink()
        return self

    def __exit__(self, *_):
        self.save_contact_sheet()
        DONE.append((self.name, self.count, self.tiles))
        print(f"{self.folder}/{self.name}-*.png: {self.count} sheets, {self.tiles} tiles", flush=True)


def rasterise_svgs(drawn, scratch):
    """Renders [(name, text of an SVG)] in the browser: [(name, image)]."""
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
        browser.run_chromium(scratch, f"--window-size=1600,{y}", f"--screenshot={shot}", f"file://{page}")
        with Image.open(shot) as image:
            for name, box in boxes:
                yield name, image.crop(box)


def pdf_page_images(pdf, scratch, pixels_per_inch=A4):
    subprocess.run(["pdftoppm", "-r", str(pixels_per_inch), "-png", str(pdf), str(scratch / "page")], check=True)
    for file in sorted(scratch.glob("page-*.png")):
        with Image.open(file) as image:
            yield f"page {file.stem[5:]}", image.copy()
        file.unlink()


def page_screenshots(page, scratch, width, dark=False):
    top = 0
    for file in browser.take_screenshots(page, scratch, width, dark):
        with Image.open(file) as image:
            yield f"{width} wide{', dark' * dark}, {top}", image.crop((0, 0, width, image.height))
            top += image.height


# ---- what is graded --------------------------------------------------------------------------------

KEPT = []  # the folder of --results, if given
STATES = ("empty", "skeleton", "half-done", "solved")
LABS = [name for name in book.chapter_names() if (ROOT / "labs" / name).is_dir()]


def invented_launch():
    """An invented launch that has every kind of picture."""
    sys.path.insert(0, str(ROOT / "grader/tests/python"))
    import sample_pictures

    other = dict(texture_requests=3000, texture_sectors=4096, bulk_sectors=5120, ideal_bulk_sectors=4096, cluster_requests=64, cluster_sectors=256, unknown=True)
    launch = sample_pictures.launch()
    return launch | {"traffic": launch["traffic"] | {"other": other}}


def lab_source_in_state(lab, state):
    """A lab's file in a state of a student's work. The tests define the empty and half-done states."""
    sys.path.insert(0, str(ROOT / "grader/tests/python"))
    import corpus

    if state in ("empty", "half-done"):
        return corpus.empty(lab) if state == "empty" else corpus.half_done(lab)
    return (ROOT / {"skeleton": "labs", "solved": "solutions"}[state] / lab / f"{lab}.cu").read_text()


@functools.cache
def grade_labs_in_state(scratch, state):
    """Grades all labs in a state of a student's work; returns the file of results."""
    directory = {"skeleton": "labs", "solved": "solutions"}.get(state, scratch / state)
    for lab in LABS if directory == scratch / state else ():
        write_submission(directory / lab, lab, state)
    file = (KEPT[0] if KEPT else scratch) / f"{state}.json"
    if file.exists():
        return file
    command = [
        BINARY, "grade", *LABS, "--dir", directory, "--pictures", "--format", "json", "--seed", "1",
        "--device", "sim", "--time-limit", "600", "-o", file,
    ]  # fmt: skip
    if (status := subprocess.run(command, cwd=ROOT, check=False).returncode) not in (0, 1):
        sys.exit(f"handouts.contact_sheets: `lab32 grade` in state {state} ended with status {status}")
    return file


def write_submission(folder, lab, state):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{lab}.cu").write_text(lab_source_in_state(lab, state))


# ---- the parts -------------------------------------------------------------------------------------


def make_handout_contact_sheets(sheets_folder, scratch):
    for language, place in (("en", "handouts/figures"), ("zh", "handouts/zh/figures")):
        with ContactSheetWriter(sheets_folder, f"handouts-{language}") as sheets:
            files = sorted((ROOT / place).rglob("*.svg"))
            drawn = [(f"{file.parent.name} {file.stem}", file.read_text()) for file in files]
            for name, image in rasterise_svgs(drawn, scratch):
                sheets.add(name, image)


def make_picture_contact_sheets(sheets_folder, scratch):
    seen, first = distinct_pictures.SeenPictures(), {}
    for state in STATES:
        drawn = []
        for where, kind, canvas in seen.unseen_svg_pictures(load_result(grade_labs_in_state(scratch, state))):
            drawn.append((where, str(canvas)))
            # Accesses of global and of shared memory count as two kinds.
            first.setdefault(f"{kind} {'bank' in canvas.alt_text}", (f"{state}, {where}", canvas))
        with ContactSheetWriter(sheets_folder, f"pictures-{state}") as sheets:
            for name, image in rasterise_svgs(drawn, scratch):
                sheets.add(name, image)
    # Faults, races and other kinds of traffic, which no file of a lab has.
    with ContactSheetWriter(sheets_folder, "pictures-sample") as sheets:
        drawn = [(kind, draw_it()) for kind, _, draw_it in distinct_pictures.drawable_pictures_of_launch(invented_launch())]
        for name, image in rasterise_svgs([(kind, str(canvas)) for kind, canvas in drawn], scratch):
            sheets.add(name, image)
        for kind, canvas in drawn:
            first.setdefault(f"{kind} {'bank' in canvas.alt_text}", (f"sample, {kind}", canvas))
    # One picture of each kind as PNG, since png.py draws it rather than the browser.
    with ContactSheetWriter(sheets_folder, "png") as sheets:
        for name, canvas in first.values():
            path = scratch / "one.png"
            path.write_bytes(png_bytes(canvas))
            with Image.open(path) as image:
                sheets.add(name, image.resize((image.width // 2, image.height // 2)))


LOOKS = [(1280, False), (390, True), (1280, True), (390, False)]  # of a page: (width, dark)


def make_report_contact_sheets(sheets_folder, scratch):
    """Each lab in each state. The look rotates with the state, so that each lab and each state appears in each look."""
    for n, state in enumerate(STATES):
        result = load_result(grade_labs_in_state(scratch, state))
        with ContactSheetWriter(sheets_folder, f"report-{state}") as sheets:
            for k, lab in enumerate(result.labs):
                page = scratch / "report.html"
                one = replace(result, labs=[lab], score=lab.score, max_score=lab.max_score)
                page.write_text(report.report_page(distinct_pictures.result_with_distinct_pictures(one), invented_attempts(lab, state), datetime.now(), drawn=True))
                width, dark = LOOKS[(k + n) % len(LOOKS)]
                for name, image in page_screenshots(page, scratch, width, dark):
                    sheets.add(f"{lab.name}, {name}", image)
        if state in ("skeleton", "solved"):
            page.write_text(report.report_page(result, [], datetime.now(), drawn=True))
            with ContactSheetWriter(sheets_folder, f"report-{state}-printed") as sheets:
                for name, image in pdf_page_images(browser.print_to_pdf(page, scratch), scratch):
                    sheets.add(name, image)


def invented_attempts(lab, state):
    """Plausible earlier attempts; there are none at the start."""
    if state in ("empty", "skeleton"):
        return []
    checks = {t.name: {"status": t.status, "score": t.score, "measured": t.measured, "figures": {}} for t in lab.tests}
    first = {name: check | {"measured": "wrong", "score": 0} for name, check in checks.items()}
    return [
        {"time": f"2026-10-0{day}T10:00:00+00:00", "lab": lab.name, "device": "sim", "score": score, "max_score": lab.max_score, "checks": found}
        for day, score, found in ((1, 0, first), (2, round(lab.score / 2, 2), first), (3, lab.score, checks))
    ]  # fmt: skip


def make_notebook_contact_sheets(sheets_folder, scratch):
    """The skeleton's notebooks as `make notebooks` ran them; for other states, only the cells that differ."""
    from lab32 import notebooks as runner

    for lab in [lab for lab in LABS if (ROOT / f"labs/{lab}/report.ipynb").exists()]:
        had = set()
        with ContactSheetWriter(sheets_folder, f"notebook-{lab}") as sheets:
            for state in ("skeleton", "empty", "half-done", "solved"):
                if state == "skeleton":
                    file = ROOT / "build/notebooks" / runner.executed_notebook_name(ROOT / f"labs/{lab}/report.ipynb")
                    if not file.is_file():
                        sys.exit(f"handouts.contact_sheets: there is no {file.relative_to(ROOT)}: run `make notebooks` first")
                    notebook = nbformat.read(file, as_version=4)
                else:
                    file = write_notebook_of_stored_result(lab, grade_labs_in_state(scratch, state), scratch / f"{state}-notebook")
                    notebook = nbformat.read(runner.write_executed_notebook(file, scratch), as_version=4)
                    notebook.cells = [c for c in notebook.cells if c.cell_type == "code" and c.outputs and str(c.outputs) not in had]
                had |= {str(c.outputs) for c in notebook.cells if c.cell_type == "code"}
                page = scratch / "notebook.html"
                page.write_text(notebook_html(notebook))
                for name, image in page_screenshots(page, scratch, 760):
                    sheets.add(f"{state}, {name}", image)


def write_notebook_of_stored_result(lab, result, folder):
    """A notebook that loads a stored result instead of grading."""
    notebook = nbformat.read(ROOT / f"labs/{lab}/report.ipynb", as_version=4)
    given = (
        "from lab32 import explained, results\n"
        f"results.grade = lambda *_, **__: one_of(results.load_result({str(result)!r}))\n"
        "explained.picture_of_check_costing_most = lambda lab: explained.MissingPicture('no picture: seen in the report')\n"
        f"def one_of(found):\n    lab = found.lab({lab!r})\n"
        "    found.labs, found.score, found.max_score = [lab], lab.score, lab.max_score\n    return found\n"
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell(given))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = cell.source.replace(": None", ": 3")  # a prediction
    (folder / lab).mkdir(parents=True, exist_ok=True)
    file = folder / lab / "report.ipynb"
    nbformat.write(notebook, file)
    return file


def notebook_html(notebook):
    from nbconvert import HTMLExporter

    return HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(notebook)[0]


def make_class_contact_sheets(sheets_folder, scratch):
    """A small class: its report, the pages of two students, the similarity page."""
    handed, out = scratch / "handed-in", scratch / "class"
    for who, state in zip(("ada", "bo", "chen", "dia", "eve"), (*STATES, "half-done"), strict=True):
        for lab in ("shuffle", "transpose"):
            write_submission(handed / who / lab, lab, state)
    run = functools.partial(subprocess.run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    run([BINARY, "class", handed, "-o", out, "--pages"])
    run([BINARY, "similarity", handed, "-o", scratch / "similarity.html", "--no-compare50"])
    with ContactSheetWriter(sheets_folder, "class") as sheets:
        student = sorted((out / "pages").glob("**/*.html"))[:2]
        for page in (out / "report.html", *student, scratch / "similarity.html"):
            # The page's policy forbids scripts, but the script that measures the page is one.
            (scratch / "of-class.html").write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text()))
            for name, image in page_screenshots(scratch / "of-class.html", scratch, 1280):
                sheets.add(f"{page.stem}, {name}", image)


def make_book_contact_sheets(sheets_folder, scratch):
    for language in book.TITLES:
        made = ROOT / f"build/book/lab32-{language}"
        with ContactSheetWriter(sheets_folder, f"book-{language}") as sheets:
            for name, image in pdf_page_images(made.with_suffix(".pdf"), scratch):
                sheets.add(name, image)
        with ContactSheetWriter(sheets_folder, f"book-{language}-html") as sheets:
            for name, image in page_screenshots(made.with_suffix(".html"), scratch, 760):
                sheets.add(name, image)


PARTS = {"handouts": make_handout_contact_sheets, "pictures": make_picture_contact_sheets, "reports": make_report_contact_sheets, "notebooks": make_notebook_contact_sheets, "class": make_class_contact_sheets, "book": make_book_contact_sheets}  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="reuse results from this folder, or store them there for the next run")
    options = parser.parse_intermixed_args(arguments)
    options.parts = options.parts or list(PARTS)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))} (there are: {', '.join(PARTS)})")
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        KEPT.append(options.results)
    options.folder.mkdir(parents=True, exist_ok=True)
    if not browser.CHROMIUM or not shutil.which("pdftoppm"):
        sys.exit("handouts.contact_sheets: Chromium and pdftoppm are needed: grader/setup/setup sheets")
    for old in options.folder.glob("*.png") if set(options.parts) == set(PARTS) else ():
        old.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        for part in options.parts:
            PARTS[part](options.folder, Path(scratch))
    sheets, tiles = sum(n for _, n, _ in DONE), sum(n for _, _, n in DONE)
    print(f"{sheets} sheets with {tiles} tiles in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
