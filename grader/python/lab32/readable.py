"""What the grader says, as pictures and prose have it."""

import re

UNIT = r"(?<=\d) (?=(?:%|[nµm]?s|[kKMG]i?B|B|GB/s|bytes)(?!\w))"


def kept_together(words):
    """No line ends between a number and its unit, nor inside 16 x 32."""
    return re.sub(UNIT, "\u00a0", re.sub(r"(?<=\d) ([x×]) (?=\d)", "\u00a0\\1\u00a0", words))


def quoted_lines(text):
    """[(line, whether it is quoted)]: code and tables stand behind blanks, and a compiler's line above its mark."""
    lines = text.split("\n")
    marked = [bool(re.fullmatch(r" +\^[~^ ]*", line)) for line in [*lines, ""]]
    return [(line, line.startswith("    ") or marked[n] or marked[n + 1]) for n, line in enumerate(lines)]


def readable(text):
    """Numbers and units: 1,048,576; µs. Not of what is quoted: code stands behind blanks or between backticks, an
    index in brackets."""
    return "\n".join(line if quoted else readable_line(line) for line, quoted in quoted_lines(text))


def readable_line(line):
    if "seed" in line:
        return line
    parts = line.split("`")
    parts[::2] = map(readable_words, parts[::2])
    return "`".join(parts)


def readable_words(words):
    words = re.sub(r"(?<![\w.,/:\[])(?<!line )\d{4,}(?![\w.])", lambda n: f"{int(n[0]):,}", words)
    words = re.sub(r"(?<=\de-)0(?=\d\b)", "", words)  # 6.1e-7
    return re.sub(r"(?<=\d )us\b", "µs", words)


def said_by(test, lab):
    """Its message; nothing where that is what keeps the whole lab from running, which the lab says."""
    return "" if lab.message and lab.message.startswith(test.message) else test.message
