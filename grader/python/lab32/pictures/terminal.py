"""Draws pictures of bars as text, at most 80 characters wide."""

import textwrap

WIDTH, LABEL, BAR = 80, 15, 24


def sentences(words):
    return "".join(f"{line}\n" for line in textwrap.wrap(words, WIDTH))


def row(label, part, words):
    """A bar with its label and its words, which may take several lines."""
    bar = "█" * max(round(BAR * part), 1 if part > 0 else 0)
    left = f"{label[:LABEL]:>{LABEL}} │ {bar:{BAR}} "
    lines = textwrap.wrap(str(words), WIDTH - len(left)) or [""]
    return "".join(f"{(left if n == 0 else ' ' * len(left)) + line}".rstrip() + "\n" for n, line in enumerate(lines))


def text(picture):
    above, rows, below = picture.terminal
    return sentences(picture.title) + sentences(above) + "\n" + "".join(row(*each) for each in rows) + sentences(below)
