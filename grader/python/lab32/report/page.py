"""Renders a GradingResult as one page. This file decides its contents; page.html and style.css decide its look."""

import json
import zlib
from base64 import b64encode
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from lab32 import labs
from lab32 import questions as about
from lab32.pictures import best_picture_kind, draw_picture, picture_kinds
from lab32.pictures.access import draw_request_of_access
from lab32.pictures.canvas import STYLE, with_thousands_separators
from lab32.pictures.mapping import draw_swizzle_mapping
from lab32.report import plots
from lab32.text_format import (
    check_message_unless_in_lab_message,
    format_numbers,
    keep_units_together,
    lines_with_quoted_code_flag,
)

HERE = Path(__file__).parent
MOST_ACCESSES, MOST_REQUESTS, AROUND = 2, 8, 2
ALL_REQUESTS = 1000  # for a page of one launch: all requests that are recorded
# Each status has words and a sign, so that colour is never the only cue.
SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not run": "–", "not graded": "–"}
TITLES = {
    "race": "The race",
    "fault": "The bad access",
    "steps": "Lanes at work between barriers",
    "shuffles": "Lanes read by shuffles",
    "traffic": "Memory chart",
}


def score_text(value):
    return f"{value:g}"


def message_html(text):
    """HTML for a message. Indented lines are quoted code or tables; they are not wrapped, and scroll."""
    out = []
    for quoted, lines in groupby(lines_with_quoted_code_flag(format_numbers(text)), lambda line: line[1]):
        words = "\n".join(line for line, _ in lines)
        words = escape(words if quoted else keep_units_together(words))
        scrolls = 'class="wide" tabindex="0" role="group" aria-label="quoted lines, scroll sideways"'
        out.append(Markup(f"<span {scrolls}>{words}</span>") if quoted else Markup(f"<span>{words}</span>"))
    return Markup().join(out)


def compress_and_encode_texts(texts):
    return b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


class PagePictures:
    """The pictures of a page. Identical pictures are stored once, since most launches serve several checks. On paper,
    each picture is printed once, at the place that needs it most."""

    def __init__(self, most=MOST_REQUESTS):
        self.most = most  # requests per line in addition to the worst one
        self.drawn = {}  # {SVG text: id on the page}
        self.packs = {}  # {packed text: its id}
        self.uses = {}  # {drawing or listing: [(its place on the page, check, need)]}

    def record_picture_place(self, what, shown, test, need):
        """`shown` is the place of `what` on the page. `need` decides where it is printed; 0: not on paper."""
        self.uses.setdefault(what, []).append((shown, test, need))
        return shown

    def choose_printed_places(self):
        """Sets for each picture and listing `paper`, whether it is printed there, and `again`, the check where it is printed."""
        for places in self.uses.values():
            best = max(places, key=lambda place: place[2])  # the first place with the greatest need
            for shown, _, need in places:
                shown["paper"] = shown is best[0] and need > 0
                shown["again"] = best[1].name if need > 1 and shown is not best[0] else ""

    def figure_template_data(self, picture, title=None, caption=True):
        marks = picture.svg_shapes()
        same = self.drawn.get(marks, "")
        name = "" if same else self.drawn.setdefault(marks, f"d{len(self.drawn)}")
        title = title or picture.title
        return {"title": title, "figure": figure_html(picture, picture.inline_svg(name, same, caption), title, caption), "marks": marks, "paper": True}

    def request_slider_of_access(self, access):
        """The worst request and some other requests of the line, for a slider."""
        chosen = sorted({access["worst"], *range(min(self.most, len(access["requests"])))})
        first = chosen.index(access["worst"])
        pictures = [draw_request_of_access(access, n) for n in chosen]
        frames = [""] * len(chosen)
        shown = self.figure_template_data(pictures[first])
        frames[first] = shown["figure"]
        # The slider's other requests are compressed together, because they are similar.
        others = [figure_html(p, p.inline_svg(captioned=True), p.title) for n, p in enumerate(pictures) if n != first]
        return {
            "line": access["line"],
            "source": access["source"],
            "ptx_level": access["ptx_level"],
            "title": pictures[first].title,
            "marks": shown["marks"],
            "frames": frames,
            "pack": self.packs.setdefault(compress_and_encode_texts(others), f"p{len(self.packs)}") if others else "",
            "first": first,
            "left": access["requests_in_block"] - len(chosen),
        }


def figure_html(picture, svg, title, caption=True):
    """The SVG with its caption, unless its words are already inside, as in a plot."""
    said = f"<figcaption>{escape(keep_units_together(picture.alt_text))}</figcaption>" if caption else ""
    return Markup(
        f'<figure data-title="{escape(title)}"><div class="wide" tabindex="0" role="group" '
        f'aria-label="{escape(title)}, scrolls sideways">{svg}</div>{said}</figure>'
    )


def source_cost_table(launch, text):
    """The lines with counts and some lines around them; None stands for lines that are left out."""
    costs = {line["line"]: line for line in launch["lines"]}
    shown = sorted(
        {
            n
            for line in costs
            for n in range(line - AROUND, line + AROUND + 1)
            if 1 <= n <= len(text)
        }
    )
    others = [what for what in OTHER if any((cost.get("other") or {}).get(what.total) for cost in costs.values())]
    most = max((cost["share"] for cost in costs.values()), default=0)
    rows, last = [], None
    for n in shown:
        if last is not None and n > last + 1:
            rows.append(None)
        last = n
        cost = costs.get(n)
        heat = round(4 * cost["share"] / most) if cost and most else 0
        rows.append({"line": n, "text": text[n - 1], "cost": cost, "heat": heat})
    return {"rows": rows, "others": others, "unknown": any((cost.get("other") or {}).get("unknown") for cost in costs.values())}


@dataclass
class OtherTrafficColumns:
    """Columns for traffic other than loads and stores of lanes, shown only if a launch has any."""

    total: str  # the columns are left out if this figure is 0
    columns: tuple  # (heading, description, figure)


OTHER = (
    OtherTrafficColumns("texture_requests", (("tex. requests", "requests of textures and surfaces", "texture_requests"),
                               ("tex. sectors", "sectors of textures and surfaces", "texture_sectors"))),
    OtherTrafficColumns("bulk_sectors", (("bulk sectors", "sectors of bulk copies", "bulk_sectors"), ("ideal", "ideal sectors of bulk copies", "ideal_bulk_sectors"))),
    OtherTrafficColumns("cluster_requests", (("cluster requests", "requests to other blocks' shared memory", "cluster_requests"),
                               ("cluster sectors", "sectors of other blocks' shared memory", "cluster_sectors"))),
)  # fmt: skip


def setting_without_blocks(launch):
    """The setting without the number of blocks, which the launch's shape already shows."""
    shape = launch["shape"].replace(",", "").rpartition(" threads")[0]
    words = launch.get("setting") or ""
    return words[: -len(shape)].rstrip(", ") if shape and words.endswith(shape) else words


def lines_of_checked_file(test):
    try:
        return Path(test.file).read_text(errors="replace").splitlines()
    except OSError:
        return []


def page_record_of_check(test, figures, number, own=()):
    """`own`: pictures that the lab draws itself, by the figures of the check."""
    launch = test.pictures or {}
    check = {
        "id": f"check-{number}",
        "test": test,
        "sign": SIGNS[test.status],
        "said": test.message,
        "open": False,
        "withheld": launch.get("withheld_until"),
        "first": [figures.figure_template_data(picture) | {"leads": True} for picture in own],
        "accesses": [],
        "pictures": [],
        "source": None,
        "launch": None,
        "setting": "",
    }
    need = LOST if has_lost_points_or_is_unscored(test) else LEADS
    for picture in check["first"]:
        figures.record_picture_place(picture["marks"], picture, test, need)
    if not launch or check["withheld"]:
        return check
    check["launch"], check["setting"] = launch, setting_without_blocks(launch)
    lead = best_picture_kind(launch, test.name)
    wasteful = [a for n, a in enumerate(launch["accesses"]) if a["waste"] or n == 0 and not own]
    check["accesses"] = [figures.request_slider_of_access(a) for a in wasteful[:MOST_ACCESSES]]
    check["pictures"] = [figures.figure_template_data(draw_swizzle_mapping([m]), m["name"]) for m in launch["mappings"]] + [
        figures.figure_template_data(draw_picture(launch, kind), TITLES[kind]) | {"leads": kind == lead}
        for kind in picture_kinds(launch)
        if kind not in ("access", "mappings")
    ]
    # A race or a bad access comes before accesses, which may be perfect.
    if check["accesses"]:
        check["first"] += [picture for picture in check["pictures"] if picture.get("leads")]
        check["pictures"] = [picture for picture in check["pictures"] if not picture.get("leads")]
    source = source_cost_table(launch, lines_of_checked_file(test))
    if source["rows"]:
        check["source"] = source
        figures.record_picture_place(repr(check["source"]["rows"]), check["source"], test, LOST if has_lost_points_or_is_unscored(test) else NOT)
    for n, picture in enumerate(check["accesses"]):
        figures.record_picture_place(picture["marks"], picture, test, LOST if has_lost_points_or_is_unscored(test) else LEADS if n == 0 and lead == "access" else NOT)
    for picture in (*check["first"][len(own) :], *check["pictures"]):
        leads = picture.get("leads") or not check["accesses"] and picture is check["pictures"][0]
        figures.record_picture_place(picture["marks"], picture, test, need if leads else LOST if has_lost_points_or_is_unscored(test) else NOT)
    return check


# How much a reader on paper needs a check's pictures: for a check with full marks, the first picture is enough.
NOT, LEADS, LOST = range(3)


def has_lost_points_or_is_unscored(test):
    """The points that were lost; `lab32 explain` shows launches without any points."""
    return test.score < test.max_score or not test.max_score


def lab_position_in_course(lab):
    known = labs.lab_names()
    return known.index(lab.name) if lab.name in known else len(known)


def page_record_of_lab(lab, result, attempts, figures, counter):
    own = [a for a in attempts if a["lab"] == lab.name]
    checks = [page_record_of_check(test, figures, next(counter), labs.lab_specific_pictures(lab.name, test, result.device)) for test in lab.tests]
    for check in checks:
        check["said"] = check_message_unless_in_lab_message(check["test"], lab)
    # The first check that lost points is unfolded, because the student works on it next.
    for check in checks:
        if check["test"].status in ("failed", "error") and lab.status != "error":
            check["open"] = True
            break
    drawn = [
        plots.plot_counts_over_needed(lab),
        plots.plot_speedup_over_previous_version(lab),
        plots.plot_simulated_and_documented(lab),
        plots.plot_times_by_check(lab, result.device),
        plots.plot_prediction_errors_by_attempt(own),
    ]
    history = plots.plot_attempt_scores(own)
    return {
        "lab": lab,
        "sign": SIGNS[lab.status],
        "checks": checks,
        "plots": [figures.figure_template_data(plot, caption=False) for plot in drawn if plot],
        "history": figures.figure_template_data(history, caption=False) if history else None,
        "attempts": [attempt_change_record(before, after) for before, after in zip([None, *own], own)][-12:][
            ::-1
        ],
    }


def attempt_change_record(before, after):
    """An attempt, and the checks whose measured values changed since the attempt before."""
    lines = []
    for name, check in after["checks"].items():
        old = before["checks"].get(name) if before else None
        if old and old["measured"] != check["measured"] and check["measured"]:
            lines.append(f"{name}: {format_numbers(old['measured'] or '–')} → {format_numbers(check['measured'])}")
    gained = after["score"] - before["score"] if before else None
    return {"attempt": after, "lines": lines, "gained": gained}


@cache
def page_template():
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    env.filters |= {"grouped": with_thousands_separators, "message": message_html, "format_numbers": format_numbers, "score": score_text, "keep_units_together": keep_units_together}
    return env.get_template("page.html")


def render_page(**what):
    style = Markup((HERE / "style.css").read_text() + STYLE)
    script = Markup((HERE / "page.js").read_text())
    return page_template().render(style=style, script=script, **what)


def redraw_command(result):
    """The command that makes this page with pictures of launches; "" if the page has them or there is nothing to draw.
    Mappings do not count, because every result has theirs."""
    labs = [lab for lab in result.labs if any(test.figures for test in lab.tests)]
    tests = [test for lab in labs for test in lab.tests if test.pictures]
    if not labs or any(
        test.pictures.get("kernel") or "withheld_until" in test.pictures for test in tests
    ):
        return ""
    seed = f" --seed {result.seed}" if result.seed is not None else ""
    return f"lab32 report {' '.join(lab.name for lab in labs)}{seed}"


def page_record_of_question(question):
    """A question for the page's form. The pictures and the misconceptions are compressed until it is answered."""
    drawings = "".join(figure_html(each, each.inline_svg(captioned=True), each.title) for each in about.pictures_of_answer(question))
    revealed = [drawings, question.misconceptions, question.reason]
    return {"question": question, "text": Markup(about.question_html(question)), "revealed": compress_and_encode_texts(revealed)}


def report_page(result, attempts, now, name="", notes=(), drawn=False, questions=None, student=""):
    """`name` and `notes` tell whose page it is and what the instructor's policy adds. `drawn`: pictures were requested,
    so that a page without any does not suggest the same command. `questions`: {lab: its questions, or why there are none},
    drawn for the id `student`."""
    figures, counter = PagePictures(), iter(range(1, 10_000))
    result = replace(result, labs=sorted(result.labs, key=lab_position_in_course))
    labs = [page_record_of_lab(lab, result, attempts, figures, counter) for lab in result.labs]
    for lab in labs:
        asked = (questions or {}).get(lab["lab"].name)
        lab["why_none"] = asked if isinstance(asked, str) else ""
        lab["questions"] = [page_record_of_question(q) for q in asked or []] if not lab["why_none"] else []
    figures.choose_printed_places()
    return render_page(
        title=f"lab32 report: {name}" if name else "lab32 report",
        result=result,
        labs=labs,
        when=now.strftime("%Y-%m-%d %H:%M"),
        explained=None,
        notes=notes,
        student=student,
        redraw="" if drawn else redraw_command(result),
        packs=figures.packs,
    )


def launch_explanation_page(shown, own=()):
    """The page of `lab32 explain --format html`, which shows one launch, and the pictures that the lab draws itself."""
    from lab32.results import CheckResult

    launch = shown["launch"]
    mapping = launch["mappings"][0]["name"] if launch["mappings"] else ""
    test = CheckResult(
        name=shown["check"] or launch["kernel"] or mapping, status="passed", score=0, max_score=0,
        message=shown["message"], file=shown["file"], pictures=shown["launch"],
    )  # fmt: skip
    figures = PagePictures(most=ALL_REQUESTS)
    check = page_record_of_check(test, figures, 1, own)
    figures.choose_printed_places()
    return render_page(
        title=f"lab32 explain: {shown['file']}", result=None, labs=[], when="", explained=check,
        packs=figures.packs,
    )  # fmt: skip
