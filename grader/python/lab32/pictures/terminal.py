"""Draws pictures of bars as text, at most 80 characters wide."""

import textwrap

WIDTH, LABEL, BAR = 80, 15, 24


def wrapped_lines(words):
    return "".join(f"{line}\n" for line in textwrap.wrap(words, WIDTH))


def bar_text(label, part, words):
    """A bar with its label and its words, which may take several lines."""
    bar = "█" * max(round(BAR * part), 1 if part > 0 else 0)
    left = f"{label[:LABEL]:>{LABEL}} │ {bar:{BAR}} "
    lines = textwrap.wrap(str(words), WIDTH - len(left)) or [""]
    return "".join(f"{(left if n == 0 else ' ' * len(left)) + line}".rstrip() + "\n" for n, line in enumerate(lines))


def picture_as_text(picture):
    above, rows, below = picture.terminal
    return wrapped_lines(picture.title) + wrapped_lines(above) + "\n" + "".join(bar_text(*each) for each in rows) + wrapped_lines(below)
