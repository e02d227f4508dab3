"""The contents of pictures of launches, and whether other programs can read them."""

import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import sample_pictures as sample
from PIL import Image

from lab32.pictures import KINDS, best_picture_kind, canvas, draw_picture, picture_kinds, shuffles
from lab32.pictures.access import (
    access_alt_text,
    draw_request_of_access,
    memory_lines_of_request,
    used_bytes_percent,
)
from lab32.pictures.chart import comparison_lines, distance_from_ideal_text
from lab32.pictures.png import png_bytes

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [e.text for e in ElementTree.fromstring(str(picture)).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn_as_svg_and_png(kind):
    picture = draw_picture(sample.launch(), kind)
    root = ElementTree.fromstring(str(picture))
    assert root.find(f"{SVG}title").text == picture.title
    assert len(root.find(f"{SVG}desc").text) > 30
    # Simple enough for programs that do not support CSS variables.
    assert "var(" not in str(picture)
    # No text is cut off: the ends of all texts are inside (a letter is about 0.62 of the size wide).
    around = {child: parent for parent in root.iter() for child in parent}
    for e in root.iter(f"{SVG}text"):
        look = around[e].attrib | e.attrib
        wide = 0.62 * float(look["font-size"]) * len(e.text)
        x, anchor = float(e.get("x")), look.get("text-anchor", "start")
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        assert left > -8 and left + wide < picture.width + 12, e.text
        assert 0 < float(e.get("y")) < picture.height, e.text
        assert float(look["font-size"]) >= 9, e.text
    image = Image.open(io.BytesIO(png_bytes(picture)))
    assert image.size == (round(2 * picture.width), round(2 * picture.height))
    assert len(image.getcolors(1 << 20)) > 4


def test_a_large_swizzle_is_drawn_in_part_with_a_note():
    columns = [column ^ row for row in range(32) for column in range(32)]
    mapping = {
        "name": "Swizzle<8, 4, 8>", "rows": 32, "columns": 32, "all_rows": 256, "all_columns": 1024, "unit": 16, "turned": False,
        "to": [1024 * (n // 32) + column for n, column in enumerate(columns)],
    }  # fmt: skip
    picture = draw_picture(sample.launch(mappings=[mapping]), "mappings")
    sentence = "The first 32 of 256 rows and the first 32 of 1,024 columns are drawn."
    words = texts(picture)
    assert sentence in words and sentence in picture.alt_text
    assert "→" not in words and "✗" not in words and words.count("31") == 32 + 1
    # A student's function may be no valid swizzle.
    words = texts(draw_picture(sample.launch(mappings=[mapping | {"to": [500, 1025, *mapping["to"][2:]]}]), "mappings"))
    assert words.count("→") == 1 and words.count("✗") == 1
    assert any("✗ leaves its row; → leaves the drawn part; last row" in text for text in words)


def test_only_pictures_with_data_are_offered():
    nothing = dict.fromkeys(("steps", "shuffles", "traffic", "race", "fault"))
    assert picture_kinds(sample.launch(**nothing, accesses=[], mappings=[])) == []
    assert picture_kinds(sample.launch()) == list(KINDS)
    with pytest.raises(ValueError, match="it has: access"):
        draw_picture(sample.launch(**nothing, mappings=[]), "steps")


def test_the_picture_that_explains_the_check_is_drawn_first():
    """Every access of a kernel with idle lanes may be ideal; its steps show the problem."""
    launch = sample.launch(race=None, fault=None)
    assert [best_picture_kind(launch, c) for c in ("v4: idle lanes", "v2: divergence", "v7: sectors", "")] == ["steps"] * 2 + ["access"] * 2
    assert best_picture_kind(launch | {"steps": None}, "v4: idle lanes") == "access"
    assert best_picture_kind(sample.launch(), "v4: idle lanes") == "fault"


def test_lanes_are_drawn_in_the_words_that_they_access():
    request = sample.request(False, 256, 32, mask=0x00FFFFFF)
    rows = memory_lines_of_request(request)
    assert [row.lanes for row in rows.values()] == [{8 * k: [4 * n + k] for k in range(4)} for n in range(6)]
    access = sample.access(False, [request])
    assert used_bytes_percent(access, request) == "12.5"
    picture = draw_request_of_access(access, 0)
    # Each active lane appears twice, in the top row and in its word; the others only in the top row.
    numbers = [t for t in texts(picture) if t.isdigit()]
    assert [numbers.count(str(lane)) for lane in range(32)] == [2] * 24 + [1] * 8
    assert "▲ 24 sectors where 3 would do; 12.5 % of the bytes moved are used" in texts(picture)


def test_conflicts_have_their_degree_as_a_number():
    access = sample.access(True, [sample.request(True, 0, 128)])
    assert "At once 32 words of bank 0." in access_alt_text(access, access["requests"][0])
    assert texts(draw_request_of_access(access, 0)).count("32") == 1  # below its bank


def test_lanes_of_an_atomic_are_counted_as_lanes():
    request = sample.request(True, 0, 0, kind="atom", cost=32, degree=[32] + [0] * 31)
    access = sample.access(True, [request])
    assert "At once 32 lanes of bank 0." in access_alt_text(access, request)
    assert "lanes at once" in texts(draw_request_of_access(access, 0))


def test_lines_run_over_grey_and_under_coloured_cells():
    """Lines can then be followed to the last row, and numbers stay readable."""
    access = sample.access(True, [sample.request(True, 0, 128)])
    text = draw_request_of_access(access, 0).svg_shapes()
    grey, ways, lane_0 = (text.index(part) for part in ('class="cell unused"', 'class="way bad"', "bank 0: lane 0"))
    assert grey < ways < lane_0


def test_a_line_of_a_png_is_visible_over_grey():
    """The line is darker than what it crosses, even if it is nearly transparent."""
    picture = canvas.Canvas(40, 20, "t", "s")
    picture.equal_rects([(0, 0)], 40, 20, "cell unused")
    picture.line(0, 10, 40, 10, "", stroke_opacity=0.4)
    image = Image.open(io.BytesIO(png_bytes(picture)))
    assert image.getpixel((40, 20))[0] < image.getpixel((40, 10))[0] - 30


def test_a_ratio_near_one_is_shown_as_a_difference():
    assert distance_from_ideal_text(2_099_222, 2_099_162) == "▲ 60 sectors more"
    assert distance_from_ideal_text(1_001, 1_000, "wavefronts") == "▲ 1 wavefront more"
    assert (distance_from_ideal_text(9, 4), distance_from_ideal_text(4, 4), distance_from_ideal_text(0, 0)) == ("▲ 2.25 × ideal", *["✓ the minimum"] * 2)


def test_accesses_without_waste_are_not_praised_if_the_reference_needs_fewer():
    traffic = {"wavefronts": 725, "ideal": 725}
    assert comparison_lines(traffic, {"wavefronts": 725}, "wavefronts", "ideal") == ["✓ the minimum"]
    assert comparison_lines(traffic, None, "wavefronts", "ideal") == ["✓ the minimum"]
    assert comparison_lines(traffic, {"wavefronts": 290}, "wavefronts", "ideal") == ["✓ ideal per access", "▲ 2.5 × reference"]
    wasteful = {"wavefronts": 1450, "ideal": 725}
    assert comparison_lines(wasteful, {"wavefronts": 290}, "wavefronts", "ideal") == ["▲ 2 × ideal", "▲ 5 × reference"]


def test_shuffles_are_described_by_their_lanes():
    whole = {"line": 3, "source": "", "mask": 0xFFFFFFFF, "in_range": 0xFFFFFFFF, "absent": 0, "from": [lane ^ 1 for lane in range(32)]}  # fmt: skip
    down = whole | {"in_range": 0x7FFFFFFF, "from": [min(lane + 1, 31) for lane in range(32)]}
    wrong = whole | {"mask": 1, "absent": 2}
    told = shuffles.shuffles_alt_text({"shuffles": [whole, down, wrong]})
    assert told == (
        "Shuffle 0, line 3: lane 0 reads lane 1. "
        "Shuffle 1, line 3: lane 0 reads lane 1; lane 31 keeps its own. "
        "Shuffle 2, line 3: no lane reads another; lane 0 asks a lane that does not take part."
    )


def test_what_students_write_is_escaped():
    access = sample.access(False, [sample.request(False, 0, 4)])
    access["requests"][0]["name"][0] = "<script>alert(1)</script>"
    for text in (str(draw_request_of_access(access, 0)), draw_request_of_access(access, 0).inline_svg()):
        assert "<script>" not in text
        ElementTree.fromstring(text)


@pytest.mark.slow
def test_the_program_draws_its_standard_input(tmp_path):
    shown = {"schema": "lab32-pictures/1", "lab": "coalescing", "check": "B1", "file": "x.cu", "message": "", "launch": sample.launch()}  # fmt: skip

    def run(*words, text=None):
        return subprocess.run([sys.executable, "-m", "lab32.pictures", *words], input=text or json.dumps(shown), capture_output=True, text=True)  # fmt: skip

    done = run("--picture", "steps")
    assert done.returncode == 0 and done.stdout.startswith("<svg")
    file = tmp_path / "x.png"
    assert run("--format", "png", "-o", str(file)).returncode == 0
    assert file.read_bytes()[:4] == b"\x89PNG"
    done = run("--picture", "nothing")
    assert done.returncode == 2 and "this launch has no such picture" in done.stderr
    done = run(text='{"schema": "else"}')
    assert done.returncode == 2 and "lab32-pictures/1" in done.stderr
    done = run("-o", "/nowhere/x.svg")
    assert done.returncode == 2 and "No such file" in done.stderr
