"""What the grader says, as pictures and prose have it."""

import re


def readable(text):
    """Numbers and units: 1,048,576; µs. Not of what is quoted: code stands behind blanks or between backticks, an
    index in brackets."""
    return "\n".join(map(readable_line, text.split("\n")))


def readable_line(line):
    if line.startswith("    ") or "seed" in line:
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
