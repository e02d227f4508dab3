"""Writes Markdown tables, and formats numbers for people."""

import re

from handouts.translation import translate


def group_thousands(text):
    """Groups thousands without losing digits."""
    try:
        value = float(text)
    except ValueError:
        return text
    if "." in text or "e" in text:
        return f"{value:,}" if abs(value) >= 1e4 else text
    return f"{int(text):,}" if abs(value) >= 1e4 else text


def text_with_two_significant_digits(value):
    """0.5; 1.5e-5"""
    return f"{value:.2g}" if value >= 0.01 else re.sub(r"e-0*", "e-", f"{value:.1e}")


def grouped_number_with_plural_unit(text, unit):
    """2,097,152 sectors; 1 wavefront; 216.54 GB/s"""
    if unit == "B/s" and float(text) >= 1e9:
        return f"{float(text) / 1e9:.2f} GB/s"
    many = text != "1" and re.sub(r"^((?:K )?[a-z]{3,})(?=/|$)", r"\1s", unit)
    return f"{group_thousands(text)} {many or unit}"


def group_thousands_in_cell(cell):
    """A cell of a column of numbers: 4138 becomes 4,138, and `1640.19 µs` becomes 1,640.19 µs."""
    return re.sub(r"^\d{4,}(?![\d,]|\s*[x×])", lambda digits: f"{int(digits[0]):,}", cell)


def markdown_table(head, rows, numeric=()):
    """A table with translated words; columns in `numeric` (by index) are aligned to the right."""
    rows = [[(group_thousands_in_cell(cell) or "–") if k in numeric else cell for k, cell in enumerate(row)] for row in rows]
    head, *rows = ([translate(cell) for cell in row] for row in (head, *rows))
    lines = [f"| {' | '.join(head)} |"]
    lines.append(
        "|" + "|".join(" ---: " if k in numeric else " --- " for k in range(len(head))) + "|"
    )
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
