"""Shows a graded lab in a notebook: a row per check, with its message below.

Colours are those of the notebook's page, so that dark pages are readable, too. A sign repeats what each colour means.
"""

from html import escape

from lab32.text_format import check_message_unless_in_lab_message, format_numbers

SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "not run": "–", "not graded": "–"}
HEAD = ["", "check", "points", "measured", "expected"]


def points_text(test):
    """The points of a check as text, `2.5 of 4`; empty if the check was not run."""
    most = f"{test.max_score:g}{' (bonus)' if test.bonus else ''}"
    return f"not run, of {most}" if test.status == "not run" else f"{test.score:g} of {most}"


def check_result_rows(lab):
    """A table with a row per check: sign, name, points, measured, expected."""
    return [
        [SIGNS[t.status], t.name, points_text(t), format_numbers(t.measured), format_numbers(t.expected)]
        for t in lab.tests
    ]


def total_points_text(result):
    """The line above the table: `27.7 of 100 points, on sim:h200, seed 7`."""
    on = result.device + (f", times of {result.timer}" if result.timer else "")
    return f"{result.score:g} of {result.max_score:g} points, on {on}, seed {result.seed}"


def score_report_html(result):
    return f"<p><b>{escape(total_points_text(result))}</b></p>" + "".join(map(lab_result_html, result.labs))


def lab_result_html(lab):
    if not lab.tests:
        return f"<p><b>{escape(lab.name)}: {escape(lab.status)}</b></p>{message_html(lab.message)}"
    body, first = [], True
    for test, cells in zip(lab.tests, check_result_rows(lab)):
        body.append("<tr>" + "".join(f"<td {LEFT}>{escape(c)}</td>" for c in cells) + "</tr>")
        if check_message_unless_in_lab_message(test, lab):
            # The first check that lost points is open, because the student works on it next.
            is_next = first and test.status in ("failed", "error")
            first = first and not is_next
            name = {"failed": "what to do", "error": "what to do", "passed": "more"}.get(test.status, "why")
            body.append(
                f"<tr><td></td><td colspan='4' {LEFT}><details{' open' if is_next else ''}>"
                f"<summary>{name}</summary>{message_html(test.message)}</details></td></tr>"
            )
    head = "".join(f"<th scope='col' {LEFT}>{cell}</th>" for cell in HEAD)
    return (
        f"{message_html(lab.message)}<table><caption {LEFT}>{escape(lab.name)}: {lab.score:g} of {lab.max_score:g}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


LEFT = "style='text-align: left'"


def message_html(message):
    """A message in preformatted lines, because it has columns, and Jupyter would otherwise break lines inside words."""
    style = (
        "text-align: left; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; "
        "font-family: monospace; line-height: 1.35; margin: 0.3em 0; background: none"
    )
    return f"<pre style='{style}'>{escape(format_numbers(message))}</pre>" if message else ""


def score_report_text(result):
    """The report as plain text, for terminals and for readers of the notebook's file."""
    lines = [total_points_text(result)]
    for lab in result.labs:
        table = check_result_rows(lab)
        widths = [max((len(row[k]) for row in table), default=0) for k in range(len(HEAD))]
        lines += ["", f"{lab.name}: {lab.status if not lab.tests else f'{lab.score:g} of {lab.max_score:g}'}"]
        lines += ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in table]
        lost = [t for t in lab.tests if t.status in ("failed", "error") and check_message_unless_in_lab_message(t, lab)]
        lines += [lab.message] if lab.message else []
        lines += [f"\n{test.name}\n{test.message}" for test in lost]
    return "\n".join(lines)
