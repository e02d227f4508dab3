"""A Result as one page. What is shown is decided here; page.html and style.css say how it looks."""

import json
import zlib
from base64 import b64encode
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from lab32.pictures import draw, kinds, leading
from lab32.pictures.access import draw_access
from lab32.pictures.canvas import STYLE, grouped
from lab32.pictures.mapping import draw_mappings
from lab32.report import plots

HERE = Path(__file__).parent
MOST_ACCESSES, MOST_REQUESTS, AROUND = 2, 8, 2
ALL_REQUESTS = 1000  # of a page of one launch: as many as are kept
# Words and a sign for each status: colour is never alone.
SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not run": "–", "not graded": "–"}
TITLES = {
    "race": "The race",
    "fault": "The bad access",
    "steps": "Who works between barriers",
    "shuffles": "Who reads whom",
    "traffic": "Memory chart",
}


def score(value):
    return f"{value:g}"


def packed(texts):
    return b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


class Figures:
    """The pictures of a page. What is drawn twice is written once: most launches serve several checks."""

    def __init__(self, most=MOST_REQUESTS):
        self.most = most  # requests of a line, beside the worst
        self.drawn = {}  # marks -> what they are called on the page
        self.packs = {}  # packed text -> its id
        self.count = 0

    def one(self, picture, title=None, caption=True):
        marks = picture.marks()
        same = self.drawn.get(marks, "")
        name = "" if same else self.drawn.setdefault(marks, f"d{len(self.drawn)}")
        self.count += 1
        words = f"w{self.count}" if caption else ""
        title = title or picture.title
        return {"title": title, "figure": figure(picture, picture.inner(name, same, words), title, words)}

    def access(self, access):
        """The worst request and some others of the line, for a slider."""
        chosen = sorted({access["worst"], *range(min(self.most, len(access["requests"])))})
        first = chosen.index(access["worst"])
        pictures = [draw_access(access, n) for n in chosen]
        frames = [""] * len(chosen)
        frames[first] = self.one(pictures[first])["figure"]
        # All but the one that is seen at first are packed, together: they are much alike.
        others = [figure(p, p.inner(), p.title) for n, p in enumerate(pictures) if n != first]
        return {
            "line": access["line"],
            "source": access["source"],
            "ptx_level": access["ptx_level"],
            "title": pictures[first].title,
            "frames": frames,
            "pack": self.packs.setdefault(packed(others), f"p{len(self.packs)}") if others else "",
            "first": first,
            "left": access["requests_in_block"] - len(chosen),
        }


def figure(picture, svg, title, words=None):
    """`words`: the id of its words below it; None: without one, ""; without words, which a plot has in itself."""
    said = "" if words == "" else f"<figcaption{f' id={words}' if words else ''}>{escape(picture.says)}</figcaption>"
    return Markup(
        f'<figure data-title="{escape(title)}"><div class="wide" tabindex="0" role="group" '
        f'aria-label="{escape(title)}, scrolls sideways">{svg}</div>{said}</figure>'
    )


def source_rows(launch, text):
    """The lines with counts and some around them; None stands for those that are left out."""
    costs = {line["line"]: line for line in launch["lines"]}
    shown = sorted(
        {
            n
            for line in costs
            for n in range(line - AROUND, line + AROUND + 1)
            if 1 <= n <= len(text)
        }
    )
    most = max((cost["share"] for cost in costs.values()), default=0)
    rows, last = [], None
    for n in shown:
        if last is not None and n > last + 1:
            rows.append(None)
        last = n
        cost = costs.get(n)
        heat = round(4 * cost["share"] / most) if cost and most else 0
        rows.append({"line": n, "text": text[n - 1], "cost": cost, "heat": heat})
    return rows


def source_of(test):
    try:
        return Path(test.file).read_text(errors="replace").splitlines()
    except OSError:
        return []


def check_of(test, figures, number):
    launch = test.pictures or {}
    check = {
        "id": f"check-{number}",
        "test": test,
        "sign": SIGNS[test.status],
        "open": False,
        "withheld": launch.get("withheld_until"),
        "accesses": [],
        "pictures": [],
        "source": [],
        "launch": None,
    }
    if not launch or check["withheld"]:
        return check
    check["launch"] = launch
    lead = leading(launch, test.name)
    wasteful = [a for n, a in enumerate(launch["accesses"]) if n == 0 or a["waste"]]
    check["accesses"] = [figures.access(a) for a in wasteful[:MOST_ACCESSES]]
    check["pictures"] = [figures.one(draw_mappings([m]), m["name"]) for m in launch["mappings"]] + [
        figures.one(draw(launch, kind), TITLES[kind]) | {"leads": kind == lead}
        for kind in kinds(launch)
        if kind not in ("access", "mappings")
    ]
    if text := source_of(test):
        check["source"] = source_rows(launch, text)
    return check


def lab_of(lab, result, attempts, figures, counter):
    own = [a for a in attempts if a["lab"] == lab.name]
    checks = [check_of(test, figures, next(counter)) for test in lab.tests]
    # One fold is open: where the next points are.
    for check in checks:
        if check["test"].status == "failed" and (check["accesses"] or check["pictures"]):
            check["open"] = True
            break
    drawn = [
        plots.ladder(lab),
        plots.steps(lab),
        plots.documented(lab),
        plots.times(lab, result.device),
    ]
    history = plots.attempts_plot(own)
    return {
        "lab": lab,
        "sign": SIGNS[lab.status],
        "checks": checks,
        "plots": [figures.one(plot, caption=False) for plot in drawn if plot],
        "history": figures.one(history, caption=False) if history else None,
        "attempts": [changes(before, after) for before, after in zip([None, *own], own)][-12:][
            ::-1
        ],
    }


def changes(before, after):
    """An attempt, and what its checks measured otherwise than the one before."""
    lines = []
    for name, check in after["checks"].items():
        old = before["checks"].get(name) if before else None
        if old and old["measured"] != check["measured"] and check["measured"]:
            lines.append(f"{name}: {old['measured'] or '–'} → {check['measured']}")
    gained = after["score"] - before["score"] if before else None
    return {"attempt": after, "lines": lines, "gained": gained}


@cache
def template():
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    env.filters |= {"grouped": grouped, "score": score}
    return env.get_template("page.html")


def rendered(**what):
    style = Markup((HERE / "style.css").read_text() + STYLE)
    script = Markup((HERE / "page.js").read_text())
    return template().render(style=style, script=script, **what)


def redraw(result):
    """The command that makes the page with pictures of launches; "" where it has them, or there is
    nothing to draw. Mappings are no launches: every result has theirs."""
    labs = [lab for lab in result.labs if any(test.figures for test in lab.tests)]
    tests = [test for lab in labs for test in lab.tests if test.pictures]
    if not labs or any(
        test.pictures.get("kernel") or "withheld_until" in test.pictures for test in tests
    ):
        return ""
    return f"lab32 report {' '.join(lab.name for lab in labs)} --seed {result.seed}"


def report_page(result, attempts, now, name="", notes=()):
    """`name` and `notes`: whose it is, and what else is to be said, where others graded it."""
    figures, counter = Figures(), iter(range(1, 10_000))
    labs = [lab_of(lab, result, attempts, figures, counter) for lab in result.labs]
    return rendered(
        title=f"lab32 report: {name}" if name else "lab32 report",
        result=result,
        labs=labs,
        when=now.strftime("%Y-%m-%d %H:%M"),
        explained=None,
        notes=notes,
        redraw=redraw(result),
        packs=figures.packs,
    )


def explain_page(shown):
    """What `lab32 explain --format html` writes: one launch."""
    from lab32.results import Test

    launch = shown["launch"]
    mapping = launch["mappings"][0]["name"] if launch["mappings"] else ""
    test = Test(
        name=shown["check"] or launch["kernel"] or mapping, status="passed", score=0, max_score=0,
        message=shown["message"], file=shown["file"], pictures=shown["launch"],
    )  # fmt: skip
    figures = Figures(most=ALL_REQUESTS)
    check = check_of(test, figures, 1)
    return rendered(
        title=f"lab32 explain: {shown['file']}", result=None, labs=[], when="", explained=check,
        packs=figures.packs,
    )  # fmt: skip
