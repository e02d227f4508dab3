"""The page of `lab32 report`, read as text; test_report_browser.py opens it in Chromium."""

import json
import re

import pytest
import sample_pictures as sample

from lab32.report import __main__ as program
from lab32.report import history, page, plots
from lab32.text_format import format_numbers


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "x.cu"
    source.write_text("int a;\nx = in[8 * i];  // <i>\nint b;\n")
    (tmp_path / "labs/.lab32").mkdir(parents=True)
    lines = [sample.attempt("2026-01-01T10:00:00+00:00", 2, "128 sectors"), sample.attempt("2026-01-01T11:00:00+00:00", 4, "64 sectors")]  # fmt: skip
    (tmp_path / "labs/.lab32/history").write_text("rubbish\n" + "".join(json.dumps(a) + "\n" for a in lines))
    (tmp_path / "result.json").write_text(json.dumps(sample.result(source)))

    def write(*words):
        status = program.main(["--from", "result.json", "-o", "page.html", *words])
        return status, (tmp_path / "page.html").read_text()

    return write


def test_the_page_contains_all_parts(written):
    status, html = written()
    assert status == program.POINTS_LOST
    for words in (
        "4 / 32 points", "B1 scale: sectors", "64 sectors; expected 8 sectors", "seed 7", "(simulated counts)",
        "128 sectors → 64 sectors", "Lanes at work between barriers", "Lanes read by shuffles", "Memory chart",
        "The race", "The bad access", "yours, modelled", "Its pictures tell what “A1 asks” asks.", "●●●●</span> 75 %",
        "x.cu(3): error: &lt;what&gt;", "Not &lt;answered&gt; yet.", "// &lt;i&gt;",
    ):  # fmt: skip
        assert words in html, words
    # Withheld parts are not on the page at all.
    assert "withheld_until" not in html
    # The page loads nothing.
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert "@import" not in html and "url(" not in html


def test_identical_pictures_are_stored_once(tmp_path):
    """Most launches serve several checks. A page for all labs stays small enough to be mailed."""
    from datetime import datetime

    from lab32.results import parse_result

    record = sample.result("")
    once = page.report_page(parse_result(json.dumps(record)), [], datetime(2026, 1, 1))
    tests = record["labs"][0]["tests"]
    tests += [tests[2] | {"name": f"B{n} again"} for n in range(2, 12)]
    often = page.report_page(parse_result(json.dumps(record)), [], datetime(2026, 1, 1))
    assert len(often) - len(once) < 10 * 12_000
    drawn = re.findall(r'<g aria-hidden="true" id="(d\d+)" class="pic">', often)
    used = re.findall(r'<use href="#(d\d+)"/>', often)
    assert len(set(drawn)) == len(drawn) and set(used) <= set(drawn)
    assert len(used) == 10 * (2 + 6)  # two accesses, and six other pictures
    assert often.count('<script type="text/plain"') == once.count('<script type="text/plain"') == 2


def test_a_history_can_be_left_out(written):
    assert "Your attempts" not in written("--no-history")[1]


def test_invalid_lines_of_a_history_are_skipped(tmp_path):
    assert history.read_graded_attempts(tmp_path) == []
    (tmp_path / ".lab32").mkdir()
    good = sample.attempt("2026-01-01T10:00:00+00:00", 2, "1")
    bad = [good | {"score": "x"}, good | {"checks": {"a": 3}}, good | {"lab": 7}, good | {"time": None}]
    text = "\n".join(json.dumps(a) for a in [*bad, good, [1]])
    (tmp_path / ".lab32/history").write_text(text + "\n{")
    assert history.read_graded_attempts(tmp_path) == [good]


def test_files_that_cannot_be_read_or_written_are_reported(written, tmp_path, capsys):
    assert program.main(["--from", "nowhere.json"]) == program.NOT_GRADED
    (tmp_path / "result.json").write_text("{}")
    assert program.main(["--from", "result.json"]) == program.NOT_GRADED
    told = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in told] == ["lab32 report"] * 2


def test_an_empty_result_makes_a_valid_page():
    result = json.loads(json.dumps(sample.result("")))
    result["labs"] = []
    from datetime import datetime

    from lab32.results import parse_result

    assert "<main>" in page.report_page(parse_result(json.dumps(result)), [], datetime(2026, 1, 1))


def test_a_page_made_with_pictures_does_not_suggest_requesting_them(tmp_path, monkeypatch):
    """A file without a kernel has no pictures, however often it is reported."""
    record = sample.result("")
    for test in record["labs"][0]["tests"]:
        test["pictures"] = None
    (tmp_path / "result.json").write_text(json.dumps(record))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(program, "run_lab32_grade", lambda _: json.dumps(record))
    said = {}
    for words in (["--from", "result.json"], []):
        assert program.main([*words, "-o", "page.html"]) == program.POINTS_LOST
        said[len(words)] = "need another simulation" in (tmp_path / "page.html").read_text()
    assert said == {2: True, 0: False}


def page_of(*tests, lab=None):
    from datetime import datetime

    from lab32.results import parse_result

    record = sample.result("")
    record["labs"] = [{"lab": "coalescing", "status": "failed", "message": "", "score": 1, "max_score": 8, "tests": list(tests)} | (lab or {})]
    return page.report_page(parse_result(json.dumps(record)), [], datetime(2026, 1, 1))


def test_labs_are_in_the_order_of_the_course():
    from datetime import datetime

    from lab32 import labs
    from lab32.results import parse_result

    record = sample.result("")
    record["labs"] = [record["labs"][0] | {"lab": name} for name in ("another", *sorted(labs.lab_names()))]
    html = page.report_page(parse_result(json.dumps(record)), [], datetime(2026, 1, 1))
    assert re.findall(r'<section id="lab-(\w+)"', html) == [*labs.lab_names(), "another"]


def test_on_paper_each_picture_is_printed_once_where_it_is_needed(tmp_path):
    source = tmp_path / "x.cu"
    source.write_text("int a;\nx = in[8 * i];\n")
    launch = sample.launch(race=None, fault=None)
    right = sample.test("B1: result", "passed", score=8, pictures=launch, file=str(source))
    wasteful = sample.test("B1: sectors", pictures=launch, file=str(source))
    html = page_of(right, wasteful)
    passed, failed = html.split('id="check-2"')
    # A later check with full marks prints nothing that is printed below; the earlier place prints all of it.
    assert passed.count('class="fold screen"') == 5 and passed.count('class="access screen"') == 2
    assert "screen" not in failed.split("</details>\n</section>")[0]
    # A single check prints its leading picture.
    alone = page_of(right)
    assert alone.count('<section class="access"') == 1 and alone.count('class="access screen"') == 1
    # The check that lost points first prints it; later checks refer to that place.
    again = page_of(wasteful, sample.test("B1: more", pictures=launch, file=str(source)))
    assert again.count("see “B1: sectors”") == 2 + 4 + 1


def test_an_error_of_a_whole_lab_is_shown_once():
    words = "x.cu does not compile:"
    tests = [sample.test(name, "error", message=words) for name in ("A1", "A2")]
    html = page_of(*tests, lab={"status": "error", "message": words + "\ngiven.cu(6): error: no `slot`"})
    assert html.count("does not compile") == 1 and html.count("See above") == 2


def test_a_compilers_line_scrolls_with_its_caret():
    text = "x.cu(12): error: expected a `;`\n  int n = 1048576 int m;\n                  ^\nand 1048576 more"
    html = str(page.message_html(text))
    quoted = "  int n = 1048576 int m;\n                  ^"
    assert f'scroll sideways">{quoted}</span>' in html
    assert html.count("<span") == 3 and "and 1,048,576 more</span>" in html


@pytest.mark.parametrize(
    "setting,shape,shown",
    [
        ("46 blocks of 1024", "46 blocks of 1,024 threads", ""),
        ("int, n = 64, 1 block of 64", "1 block of 64 threads", "int, n = 64"),
        ("n = 64", "1 block of 64 threads", "n = 64"),
        ("1 block of 64", "", "1 block of 64"),
    ],
)
def test_the_number_of_blocks_is_shown_once(setting, shape, shown):
    assert page.setting_without_blocks({"setting": setting, "shape": shape}) == shown


def test_an_attempt_names_checks_like_their_headings():
    def attempt(measured):
        return {"score": 1, "checks": {"B3 blocks of 1024": {"measured": measured}}}

    assert page.attempt_change_record(attempt("2048 sectors"), attempt("1024 sectors"))["lines"] == [
        "B3 blocks of 1024: 2,048 sectors → 1,024 sectors"
    ]


def test_numbers_and_units_are_formatted_like_the_pictures():
    assert format_numbers("n = 1048576: 12.7 us, 0 of 1135") == "n = 1,048,576: 12.7 µs, 0 of 1,135"
    assert format_numbers("give or take 6.1e-07, 2e-12") == "give or take 6.1e-7, 2e-12"
    for kept in ("    x = a[1048576];", "/tmp/123456/x.cu:12345", "0x7f5e00000000", "--seed 137714160673423", "1.23456", "line 1234", "lane 1 in[65536]", "see `B3: blocks of 1024`"):
        assert format_numbers(kept) == kept


def test_a_race_comes_before_accesses_that_may_be_perfect():
    html = page_of(sample.test("B1: result", pictures=sample.launch(fault=None)))
    assert html.index("<summary>The race</summary>") < html.index('<section class="access"')
    assert html.count("<summary>The race</summary>") == 1


def test_the_first_check_that_lost_points_is_open():
    """Also if it has no picture and a later one does."""
    tests = [sample.test("A1", "passed"), sample.test("A2"), sample.test("B1", pictures=sample.launch())]
    opened = re.findall(r'<details class="check [\w-]+" id="(check-\d+)"( open)?>', page_of(*tests))
    assert opened == [("check-1", ""), ("check-2", " open"), ("check-3", "")]


def test_a_sign_stands_at_the_number_that_is_too_large(tmp_path):
    source = tmp_path / "x.cu"
    source.write_text("int a;\nx = in[8 * i];\n")
    html = page_of(sample.test("B1: sectors", pictures=sample.launch(), file=str(source)))
    assert re.search(r'aria-label="more than needed">▲</span> 64<td>8<td>', html)
    html = page_of(sample.test("B1: sectors", measured="64 sectors", figures={"sectors": 64, "ideal_sectors": 8}))
    assert "▲ 64 sectors, yours: 8 times the 8 needed" in html


def test_a_bar_of_1_is_visible_on_a_logarithmic_scale():
    picture = plots.draw_bars("t", "s", [("a", [("good", 1, "ideal"), ("bad", 64, "bad")])], log=True)
    one, _ = (shape["width"] for tag, shape, _ in picture.shapes if tag == "rect")
    assert one > 20


def test_the_occupancy_lab_draws_its_own_subject():
    """Its kernels' accesses are perfect; the pictures show what resides, the waves, and the bytes in flight."""
    allowed = {"threads_allow": 2, "blocks_allow": 32, "registers_allow": 1, "shared_allows": 228}
    figures = {"threads": 1024, "registers": 40, "shared_bytes": 0, "fit": 1, "grid": 139, "waves": 1.05, "warps": 32, "balance": 0.52} | allowed
    example = {"threads": 256, "registers": 40, "shared_bytes": 40000, "threads_allow": 8, "blocks_allow": 32, "registers_allow": 6, "shared_allows": 5}
    copy = {"read_bytes": 1 << 24, "modelled_seconds": 4e-5, "full_seconds": 1.1e-5}
    perfect = sample.access(False, [sample.request(False, 0, 4)]) | {"waste": 0}
    tests = [
        sample.test("A1 blocks that reside", "passed", figures=example), sample.test("A2 what limits them", "failed"),
        sample.test("A3 waves", "passed", figures=example | {"fit": 5, "grid": 1500}),
        sample.test("B5 orbits: the tail", figures=figures),
        sample.test("B2 copy: with 8 warps", figures=copy, pictures=sample.launch(accesses=[perfect], race=None, fault=None)),
        sample.test("B6 match", figures=figures | {"bytes": 1 << 20, "l1_bytes": 192 << 10}),
        sample.test("C1 kinds of memory", "passed", figures={"questions": 2, "right": 2, "constant_time": 15, "window_time": 1.5}),
        sample.test("C2 too few registers", "passed", figures={"questions": 1, "right": 1, "spilled_time": 1.5}),
    ]  # fmt: skip
    html = page_of(*tests, lab={"lab": "occupancy"})
    titles = re.findall(r"<summary>([^<]+)</summary>", html)
    for words in (
        "An example: blocks on a multiprocessor: 5 blocks fit; shared memory binds", "An example: 3 waves; the last one fills 27.3 % of the places",
        "Blocks on a multiprocessor: 1 block fits; registers bind", "2 waves; the last one fills 5.3 % of the places",
        "Bytes in flight on a multiprocessor, on average", "Bytes in flight on a multiprocessor: rows that are read column by column",
        "A table in constant memory: time of a load", "A window over a signal: time",
        "Bytes in flight on a multiprocessor: values that 24 of 32 registers cannot hold",
    ):  # fmt: skip
        assert words in titles, words
    assert "▲ 1: binds" in html and "▲ 1,024 KB: the rows of 32 warps" in html and "L1: 192 KB" in html
    assert 'class="access' not in html and html.count("This check has no picture.") == 1


def predicted(status, answer, sectors):
    questions = {"status": status, "score": 1, "measured": "", "figures": {} if answer is None else {"answer add2_sectors": answer}}
    counts = {"status": "failed", "score": 1, "measured": "", "figures": {"sectors": sectors, "ideal_sectors": 8}}
    return {"lab": "coalescing", "predictions": {"answer add2_sectors": 20}, "checks": {"A1 asks": questions, "B1: sectors": counts}}


def test_prediction_errors_are_plotted_beside_the_counters_once_the_answer_is_right():
    attempts = [predicted("failed", 20, 64), predicted("failed", None, 16), predicted("failed", 10, 16)]
    assert plots.plot_prediction_errors_by_attempt(attempts) is None, "an error would tell the answer to an open question"
    attempts.append(predicted("passed", 5, 8))
    drawn = plots.plot_prediction_errors_by_attempt(attempts)
    assert "A1 asks: off by 4, 4, 2, 1. B1: sectors: times the ideal 8, 2, 2, 1." in drawn.alt_text
    assert plots.plot_prediction_errors_by_attempt([]) is None
    assert plots.plot_prediction_errors_by_attempt([predicted("passed", 5, 8) | {"predictions": {"answer add2_sectors": 5}}]) is None
