"""The pages of `lab32 report` and `lab32 explain --format html` in a real Chromium, narrow and wide, light and dark."""

import json

import browser
import pytest
import sample_pictures as sample
from PIL import Image

from handouts import contact_sheets
from lab32.pictures import canvas, draw_picture
from lab32.report import page
from lab32.results import parse_result

pytestmark = pytest.mark.slow


def report(folder):
    from datetime import datetime

    source = folder / "x.cu"
    source.write_text("int a;\nx = in[8 * i];\n")
    attempts = [sample.attempt("2026-01-01T10:00:00", 2, "128 sectors"), sample.attempt("2026-01-01T11:00:00", 4, "64 sectors")]  # fmt: skip
    file = folder / "report.html"
    file.write_text(page.report_page(parse_result(json.dumps(sample.result(source))), attempts, datetime(2026, 1, 1)))
    return file


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_the_report_has_no_layout_faults(tmp_path, width, dark):
    found = browser.probe(report(tmp_path), tmp_path, width, dark)
    assert found["wrong"] == [] and found["console"] == []
    assert (found["width"], found["dark"]) == (width, dark)
    # Each check and fold is opened, and each request of every line's slider is drawn.
    assert found["sliders"] == 2 and found["links"] == 2
    assert found["folds"] >= 12 and found["pictures"] >= 6 + 5


@pytest.mark.parametrize("dark", [False, True])
def test_reused_drawings_look_the_same(tmp_path, dark):
    picture = draw_picture(sample.launch(), "access")
    file, shot = tmp_path / "page.html", tmp_path / "shot.png"
    both = picture.inline_svg("d0"), picture.inline_svg(same="d0")
    boxes = "".join(f'<div style="position:absolute;top:{500 * n}px;left:0">{svg}</div>' for n, svg in enumerate(both))
    file.write_text(f"<!DOCTYPE html><style>{canvas.STYLE}</style><body>{boxes}</body>")
    browser.run_chromium(tmp_path, "--window-size=900,1000", *browser.colour_scheme_arguments(dark), f"--screenshot={shot}", f"file://{file}")
    with Image.open(shot) as image:
        above, below = (image.convert("RGB").crop((0, top, 900, top + 500)) for top in (0, 500))
    assert above.tobytes() == below.tobytes()
    assert len(above.getcolors(1 << 20)) > 20


def test_a_page_of_a_class_has_no_layout_faults(tmp_path):
    from datetime import datetime

    record = sample.result("")
    for test in record["labs"][0]["tests"]:
        test["pictures"] = None
    file = tmp_path / "page.html"
    name, notes = "王 " + "Nguyễn" * 30, ["shuffle: the last of 3 attempts: " + "x" * 200]
    file.write_text(page.report_page(parse_result(json.dumps(record)), [], datetime(2026, 1, 1), name, notes))
    found = browser.probe(file, tmp_path, 390)
    assert found["wrong"] == [] and found["console"] == []


def test_the_probe_detects_layout_faults(tmp_path):
    file = report(tmp_path)
    bad = (
        '<p style="color:#bbb;background:#fff">pale</p><div style="width:2000px">wide</div><a href="#nowhere">x</a>'
        '<script>console.error("no"); Promise.reject("never");</script>'
    )
    file.write_text(file.read_text().replace("<main>", f"<main>{bad}"))
    found = browser.probe(file, tmp_path, 390)
    wrong = " ".join(found["wrong"])
    for words in ("contrast 1.9", "wider than the window", "leads nowhere: #nowhere"):
        assert words in wrong
    assert any("no" in line for line in found["console"])


def test_a_contact_sheet_shows_a_page_to_its_end(tmp_path):
    """A contact sheet has two columns of the page side by side, and the last is as long as the page's end."""
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><body style="margin:0"><details><div style="height:2000px;background:#00f"></div></details></body>')
    sheets = contact_sheets.ContactSheetWriter(tmp_path, "sheet")
    for name, image in contact_sheets.page_screenshots(page, tmp_path, 390):
        sheets.add(name, image)
    sheets.save_contact_sheet()
    with Image.open(tmp_path / "sheet-01.png") as sheet:
        blue = sum(count for count, colour in sheet.getcolors(1 << 22) if colour == (0, 0, 255))
    assert blue == 390 * 2000


def test_the_page_of_one_launch_has_no_layout_faults(tmp_path):
    shown = {"schema": "lab32-pictures/1", "lab": "", "check": "", "file": "x.cu", "message": "", "launch": sample.launch()}  # fmt: skip
    file = tmp_path / "explain.html"
    file.write_text(page.launch_explanation_page(shown))
    found = browser.probe(file, tmp_path, 390)
    assert found["wrong"] == [] and found["console"] == []
    assert found["sliders"] == 2
