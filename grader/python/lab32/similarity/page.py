"""Writes a page for the instructor: pairs worth reading side by side, with the matching lines marked."""

from dataclasses import dataclass, field
from html import escape

from lab32.classroom.problem import printable_line
from lab32.similarity.pairs import THRESHOLD

LONGEST_LINE = 300
MOST_LINES = 3000
MOST_PAIRS = 60  # pairs of a lab that are shown in full; the table lists the others
# The page shows text that students wrote: no script runs, and nothing is fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
body { font: 16px/1.5 sans-serif; color: #222; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem; }
.note { background: #fff7e0; border-left: 4px solid #e69f00; padding: .5rem 1rem; max-width: 60rem; }
table { border-collapse: collapse; font-size: 14px; margin: .8rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.side { overflow: auto; max-height: 40rem; border: 1px solid #ccc; font: 12px/1.45 monospace; }
.side div { white-space: pre; padding-left: .3rem; border-left: 5px solid transparent; width: max-content;
            min-width: 100%; box-sizing: border-box; }
.side div i { display: inline-block; width: 3.2em; color: #888; text-align: right;
              margin-right: 1em; font-style: normal; user-select: none; }
.ptx { background: #cfe8f7; }
.side div.tokens { border-left-color: #e69f00; }
.key.ptx { padding: 0 .4rem; }
.key.tokens { border-left: 5px solid #e69f00; padding-left: .4rem; }
summary { cursor: pointer; margin: .5rem 0; }
@media (max-width: 50rem) { .sides { grid-template-columns: 1fr; } .side { max-height: 20rem; } }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Similar submissions</title>
<style>{style}</style>
</head>
<body>
<h1>Similar submissions</h1>
<p class="note">This page suggests submissions to read side by side. It does not judge them: two similar files show
neither who wrote first nor that anyone copied. Short kernels that follow the handout are similar
without copying. Read the lines, and ask the students.</p>
<p>The page has two signals, which detect different things. <b>PTX</b> compares nvcc's output for the kernels, so that
names, comments, layout and the order of functions do not matter; code from the skeleton does not count, and
code that many in the class share counts little. <b>compare50</b> compares the text, ignoring names and numbers; it also
reads files that do not compile. The weight measures what the two share and few others have; percentages
of compare50 are of the left file and of the right file. Lines are marked
<span class="key ptx">by PTX</span> and <span class="key tokens">by compare50</span>.</p>
{body}
</body>
</html>
"""


@dataclass
class PairRow:
    """A pair of submissions; a signal that has no result is None."""

    a: str
    b: str
    pair: object = None  # pairs.SubmissionPair
    tokens: object = None  # tokens.SubmissionPairTokenScore
    lines: tuple = ((), ())  # for each of the two submissions, {kernel: lines that match in PTX}

    def is_flagged(self):
        return bool((self.pair and self.pair.is_flagged()) or (self.tokens and self.tokens.is_flagged()))

    def sort_key(self):
        return (
            -max(self.pair.overlap_of_all_kernels().weighted_jaccard_index() if self.pair else 0.0,
                 self.tokens.smaller_matched_share() if self.tokens else 0.0),
            self.a, self.b,
        )  # fmt: skip


@dataclass
class LabSimilarities:
    lab: str
    count: int  # files
    texts: dict  # name: text
    rows: list  # flagged ones
    groups: list
    kernels: list = field(
        default_factory=list
    )  # (a, b, kernel, FingerprintOverlap) of pairs that are similar in one kernel only
    agreement: dict = field(default_factory=dict)
    apart: list = field(default_factory=list)  # (name, reason) of submissions that have no PTX
    missing_signal_notes: list = field(default_factory=list)  # why a signal is missing


def escaped_text(name):
    return escape(printable_line(name))


def per_cent_text(share):
    return f"{100 * share:.0f} %"


def html_number_cell(text):
    return f'<td class="number">{text}</td>'


def table_html(head, rows):
    """`head`: {title: whether the column has numbers}; cells are HTML including their <td>."""
    titles = "".join(f"<th scope=col{' class=number' if right else ''}>{t}</th>" for t, right in head.items())
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    return f"<table><tr>{titles}</tr>\n{body}</table>\n"


def html_cell(text):
    return f"<td>{text}</td>"


def similarity_cells(row):
    total = row.pair.overlap_of_all_kernels() if row.pair else None
    tokens = row.tokens
    return [
        html_number_cell(per_cent_text(total.weighted_jaccard_index()) if total else "–"),
        html_number_cell(f"{total.shared:.0f}" if total else "–"),
        html_number_cell(" / ".join(map(per_cent_text, tokens.shares)) if tokens else "–"),
        html_number_cell(f"{tokens.score:.0f}" if tokens else "–"),
    ]


def source_html_with_matches(text, ptx, tokens, name, targets):
    """The lines of a text with matches marked. Lines in `targets` get ids that begin with `name`."""
    out, lines = [], text.expandtabs(4).splitlines()
    for at, line in enumerate(lines[:MOST_LINES], 1):
        marks = [name for name, there in (("ptx", at in ptx), ("tokens", at in tokens)) if there]
        kind = f' class="{" ".join(marks)}"' if marks else ""
        kind += f' id="{name}-{at}"' if at in targets else ""
        out.append(f"<div{kind}><i>{at}</i>{escape(printable_line(line, LONGEST_LINE))}</div>")
    if len(lines) > MOST_LINES:
        out.append(f"<div>and {len(lines) - MOST_LINES} lines more</div>")
    return f'<div class="side">{"".join(out)}</div>'


def line_span_link(line_numbers, anchor_prefix):
    """A link to the first of these lines, which may be far down in a long file."""
    return f'<a href="#{anchor_prefix}-{min(line_numbers)}">{min(line_numbers)}-{max(line_numbers)}</a>' if line_numbers else "–"


def pair_html(page, at, row):
    out = [
        f'<details id="{page.lab}-{at}"{" open" if at == 1 else ""}>'
        f"<summary><b>{escaped_text(row.a)}</b> and <b>{escaped_text(row.b)}</b></summary>\n"
    ]
    names = [f"{page.lab}-{at}-{where}" for where in ("left", "right")]
    if row.pair and row.pair.kernels:
        shown = [
            [html_cell(escaped_text(kernel)), html_number_cell(per_cent_text(alike.weighted_jaccard_index())), html_number_cell(f"{alike.shared:.0f}"),
             *(html_number_cell(line_span_link(lines.get(kernel), name)) for lines, name in zip(row.lines, names))]
            for kernel, alike in row.pair.kernels.items()
        ]  # fmt: skip
        head = {
            "kernel": False,
            "PTX": True,
            "weight": True,
            "lines, left": True,
            "lines, right": True,
        }
        out.append(table_html(head, shown))
    marked = [set().union(*of.values()) if of else set() for of in row.lines]
    tokens = row.tokens.lines if row.tokens else ((), ())
    sides = [
        source_html_with_matches(page.texts[name], ptx, set(by), anchor, {min(lines) for lines in of.values() if lines} if of else ())
        for name, ptx, by, anchor, of in zip((row.a, row.b), marked, tokens, names, row.lines)
    ]
    out.append(f'<div class="sides">{"".join(sides)}</div></details>\n')
    return "".join(out)


def lab_similarity_html(page):
    out = [f"<h2>{escaped_text(page.lab)}</h2>\n<p>{page.count} files.</p>\n"]
    out += [f"<p>{escaped_text(line)}</p>\n" for line in page.missing_signal_notes]
    if page.rows:
        out.append("<h3>Clusters</h3>\n<ul>\n")
        out += [f"<li>{', '.join(map(escaped_text, names))}</li>\n" for names in page.groups]
        out.append("</ul>\n<h3>Pairs</h3>\n")
        head = {
            "pair": False,
            "and": False,
            "PTX": True,
            "weight": True,
            "compare50": True,
            "its score": True,
        }
        shown = []
        for at, row in enumerate(page.rows, 1):
            name = escaped_text(row.a)
            link = f'<a href="#{page.lab}-{at}">{name}</a>' if at <= MOST_PAIRS else f"{name} (not shown below)"
            shown.append([html_cell(link), html_cell(escaped_text(row.b)), *similarity_cells(row)])
        out.append(table_html(head, shown))
        if len(page.rows) > MOST_PAIRS:
            out.append(
                f"<p>The first {MOST_PAIRS} pairs are shown side by side below. The others have no link: their files are "
                "not on this page, which would become too large. Begin with the first pairs, or compare fewer submissions.</p>\n"
            )
        out += [pair_html(page, at, row) for at, row in enumerate(page.rows[:MOST_PAIRS], 1)]
    else:
        out.append("<p>No pair is similar enough to be suggested.</p>\n")
    if page.kernels:
        out.append(
            "<h3>Single kernels</h3>\n<p>These pairs are similar in one kernel but not as a whole. This is a weaker signal, "
            "and the page does not show their files.</p>\n"
        )
        shown = [
            [html_cell(escaped_text(a)), html_cell(escaped_text(b)), html_cell(escaped_text(kernel)), html_number_cell(per_cent_text(alike.weighted_jaccard_index())),
             html_number_cell(f"{alike.shared:.0f}")]
            for a, b, kernel, alike in page.kernels[: 2 * MOST_PAIRS]
        ]  # fmt: skip
        head = {"pair": False, "and": False, "kernel": False, "PTX": True, "weight": True}
        out.append(table_html(head, shown))
        if len(page.kernels) > len(shown):
            out.append(f"<p>These are the first {len(shown)} of {len(page.kernels)}.</p>\n")
    if page.agreement:
        out.append(
            "<h3>Kernels of this class</h3>\n<p>Where many pairs agree, similarity means little, because the task "
            f"leaves little choice. A pair agrees if it shares at least {per_cent_text(THRESHOLD)} of the PTX, unweighted.</p>\n"
        )
        shown = [
            [html_cell(escaped_text(kernel)), html_number_cell(both), html_number_cell(same), html_number_cell(per_cent_text(same / both))]
            for kernel, (both, same) in page.agreement.items()
        ]
        head = {"kernel": False, "pairs in which both wrote it": True, "agree": True, "share": True}
        out.append(table_html(head, shown))
    if page.apart:
        out.append("<h3>Without PTX</h3>\n")
        out.append(
            table_html(
                {"file of": False, "why": False},
                [[html_cell(escaped_text(name)), html_cell(escaped_text(why))] for name, why in page.apart],
            )
        )
    return "".join(out)


def similarity_page_html(pages):
    return PAGE.format(policy=POLICY, style=STYLE, body="".join(map(lab_similarity_html, pages)))
