"""Formats the grader's text for pictures and prose: digits in groups, µs, spaces that do not break."""

import re

UNIT = r"(?<=\d) (?=(?:%|[nµm]?s|[kKMG]i?B|B|GB/s|bytes)(?!\w))"


def keep_units_together(words):
    """Makes blanks between a number and its unit, or in 16 x 32, such that no line breaks there."""
    return re.sub(UNIT, "\u00a0", re.sub(r"(?<=\d) ([x×]) (?=\d)", "\u00a0\\1\u00a0", words))


def lines_with_quoted_code_flag(text):
    """The lines as [(line, whether it is quoted)]. Code and tables are indented; a line of code from the compiler has a
    line with a caret below it."""
    lines = text.split("\n")
    marked = [bool(re.fullmatch(r" +\^[~^ ]*", line)) for line in [*lines, ""]]
    return [(line, line.startswith("    ") or marked[n] or marked[n + 1]) for n, line in enumerate(lines)]


def format_numbers(text):
    """Formats numbers and units: 1,048,576; µs. Quoted code stays as it is: indented lines, text between
    backticks, indices in brackets."""
    return "\n".join(line if quoted else format_numbers_in_line(line) for line, quoted in lines_with_quoted_code_flag(text))


def format_numbers_in_line(line):
    if "seed" in line:
        return line
    parts = line.split("`")
    parts[::2] = map(format_numbers_in_text, parts[::2])
    return "`".join(parts)


def format_numbers_in_text(words):
    words = re.sub(r"(?<![\w.,/:\[])(?<!line )\d{4,}(?![\w.])", lambda n: f"{int(n[0]):,}", words)
    words = re.sub(r"(?<=\de-)0(?=\d\b)", "", words)  # 6.1e-7
    return re.sub(r"(?<=\d )us\b", "µs", words)


def check_message_unless_in_lab_message(test, lab):
    """The message of a check; empty if the message of the lab says the same for all checks."""
    return "" if lab.message and lab.message.startswith(test.message) else test.message
