"""Checks figures quoted in prose against the data that they come from.

The sentences are plain text. References follow in a comment at the end of the page (in a notebook, of the
cell), one line per figure, in the order of the text:

    33 threads take 1.9 times as long, and 25 % of the 512 bytes are used.

    <!-- figures
    threads take 1.9 = [measured/h200-reduction; blocks; 33 threads over 64 threads; median_ms]
    and 25 = 100 * 128 / 512
    -->

A line begins with the figure and enough words before it to identify it. It refers to the first place with
these words after the figure of the line before.

In brackets stand a file of data/, cells that only one row has, in the order of the columns, and a column. In
a cell, * matches any text, 2^22 is 4194304, n=256 names the column, and `a over b` divides the row with a by
the row with b. A TOML file takes its keys instead. Around brackets: + - * / ^ (). Before the expression: = if
the figure is its rounded value; ~ if it is within a tenth, for sentences with about, some or nearly; < or >
if the figure is less, or more, than the value.

A number needs a reference if it has a decimal point or commas between thousands; if a unit of time or of
memory, %, `million` or `times` follows; a number in words, if `times more` (less, as, the ...) or `as long`
(fast, slow) follows. Other numbers are sizes and counts that the text itself defines: 32 lanes, 16 bytes,
2^22 ints.

python -m handouts.quoted_figures [FILE...] reports figures that are wrong, figures without a reference, and
references without a figure.
"""

import argparse
import ast
import functools
import json
import operator
import re
import sys
from pathlib import Path

from lab32 import ROOT, tables

FILES = ["README.md", "labs/README.md", "handouts/*.md", "labs/*/report.ipynb"]

# ---- evaluating a reference ----------------------------------------------------------------------

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
ARITHMETIC = "an expression may have numbers, [...], + - * / ^ and ( )"


def evaluate_node(node):
    match node:
        case ast.Constant(value=int() | float()):
            return node.value
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](evaluate_node(node.left), evaluate_node(node.right))
        case ast.UnaryOp(op=ast.USub()):
            return -evaluate_node(node.operand)
    raise ValueError(ARITHMETIC)


@functools.cache
def parse_data_file(name):
    for path, read in (
        (tables.DATA / f"{name}.csv", tables.read_data_table),
        (tables.DATA / f"{name}.toml", tables.read_toml_file),
    ):
        if path.exists():
            return read(path)
    raise LookupError(f"there is no data/{name}.csv and no data/{name}.toml")


def cell_matches_pattern(expected, column, cell):
    expected = expected.removeprefix(f"{column}=")
    if power := re.fullmatch(r"2\^(\d+)", expected):
        expected = str(2 ** int(power[1]))
    parts = map(re.escape, expected.split("*"))
    return re.fullmatch(".*".join(parts), cell) is not None


def look_up_cell(name, cells, column):
    """The single value of a file of data/ that the cells and the column select."""
    for k, cell in enumerate(cells):
        if " over " in cell:
            above, below = ([*cells[:k], one, *cells[k + 1 :]] for one in cell.split(" over "))
            return look_up_cell(name, above, column) / look_up_cell(name, below, column)
    found = parse_data_file(name)
    if isinstance(found, dict):
        for key in (*cells, column):
            if not isinstance(found, dict) or key not in found:
                raise LookupError(f"data/{name}.toml has no `{key}` there")
            found = found[key]
        return float(found)
    if column not in found.columns:
        raise LookupError(f"data/{name}.csv has no column `{column}`: {', '.join(found.columns)}")

    def has_cell_for_each_pattern(row):
        values = iter(row.items())
        # `values` is an iterator, so the search for each cell continues behind the match of the cell before.
        return all(any(cell_matches_pattern(cell, *entry) for entry in values) for cell in cells)

    rows = [row for row in found.rows if has_cell_for_each_pattern(row)]
    if len(rows) != 1:
        have = f"{len(rows)} rows of data/{name}.csv have {'; '.join(cells)}"
        raise LookupError(f"{have}, expected one; COLUMN=CELL is more specific")
    return float(rows[0][column])


def expression_value(expression):
    """The value of a reference's expression."""

    def value_text_of_referenced_cell(brackets):
        name, *cells, column = (part.strip() for part in brackets[1].split(";"))
        return repr(look_up_cell(name, cells, column))

    if re.fullmatch(r"[\d.]+", expression):
        raise ValueError("a number alone names no source")
    plain = re.sub(r"\[(.*?)\]", value_text_of_referenced_cell, expression).replace("^", "**")
    try:
        return evaluate_node(ast.parse(plain, mode="eval").body)
    except SyntaxError:
        raise ValueError(ARITHMETIC) from None


# ---- figures in a text ---------------------------------------------------------------------------

WORDS = {"half": 0.5, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
         "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16}  # fmt: skip
WORD = f"(?i:{'|'.join(WORDS)})"
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
UNIT = r"(?:%|[nµm]?s\b|[KMGT]i?B\b|million\b|times\b|per nanosecond\b)"
SLOWER = r"(?:as|faster|slower|longer|shorter|fewer|more|less|the|those|too)\b"
FIGURE = re.compile(
    r"(?<![\w.,^/-])(?:"
    r"\d+(?:,\d{3})*\.\d+|\d+(?:,\d{3})+"
    rf"|\d+(?=\s*{UNIT})"
    rf"|{WORD}(?=\s+times\s+{SLOWER})"
    r"|(?i:half|twice)(?=\s+as\s+(?:long|fast|slow)\b)"
    r")(?![\w^/]|\.\d)"
)
REFERENCES = re.compile(r"^<!-- figures\n(.*?)^-->", re.DOTALL | re.MULTILINE)
# The words before the figure, the figure, the comparison, the expression.
REFERENCE = re.compile(rf"((?:.*?[^\w.,])??({NUMBER}|{WORD})) ([=~<>]) (\S.*)")
# Parts that are not prose: generated tables, code, quotation marks of Markdown, comments, targets of
# links, headings, section numbers, and versions.
NOT_PROSE = re.compile(
    r"<!-- table: .*?<!-- end -->|^(?:> )?```.*?^(?:> )?```|`[^`]*`|^> ?|<!--.*?-->"
    r"|(?<=\])\([^)]*\)|^#.*?$|section\s+\d+(?:\.\d+)*"
    r"|\b(?:CUDA|Debian|Python|Ubuntu)\s+\d+(?:\.\d+)*",
    re.DOTALL | re.MULTILINE,
)


def blank_out(match):
    """Blanks of the same length, so that positions in the text do not change."""
    return re.sub(r"[^\n]", " ", match[0])


def quoted_figure_agrees(figure, how, reached):
    written = WORDS.get(figure.lower())
    rounding = 1e-9
    if written is None:
        written = float(figure.replace(",", ""))
        decimals = len(figure.partition(".")[2])
        rounding += 0.5 * 10.0**-decimals
    return {
        "=": abs(reached - written) <= rounding,
        "~": abs(reached - written) <= 0.1 * written,
        "<": written < reached,
        ">": written > reached,
    }[how]


def parse_quoted_number_references(text):
    """(position, words, figure, comparison, expression) for each line of the comment at the end."""
    for block in REFERENCES.finditer(text):
        at = block.start(1)
        for line in block[1].splitlines(keepends=True):
            if line.strip():
                parts = REFERENCE.fullmatch(line.strip())
                yield at, *(parts.groups() if parts else (line.strip(), None, None, None))
            at += len(line)


def figure_positions(words, figure, text):
    """Positions of the figure after these words, ignoring line breaks and quotation marks."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    for found in re.finditer(rf"(?<![\w.]){pattern}(?![\w^/]|[.,]\d)", text):
        yield found.end() - len(figure)


def check_quoted_figures(text):
    """[(line, message)] for each figure that is wrong or has no reference."""
    prose = NOT_PROSE.sub(blank_out, text)
    quotable = re.sub(r"^> ?", blank_out, REFERENCES.sub(blank_out, text), flags=re.MULTILINE)
    found, referred, reached = [], set(), 0

    def add_diagnostic(at, what):
        found.append((1 + text.count("\n", 0, at), what))

    for at, words, figure, how, expression in parse_quoted_number_references(text):
        if figure is None:
            add_diagnostic(at, f"`{words}` is not a reference; write WORDS FIGURE = EXPRESSION")
            continue
        everywhere = [k for k in figure_positions(words, figure, quotable) if prose[k] == text[k]]
        behind = [k for k in everywhere if k >= reached]
        if not behind:
            add_diagnostic(
                at,
                f"`{words}` comes before the figure of the line above; references must be in the"
                " order of the text"
                if everywhere
                else f"the text has no figure `{words}`",
            )
            continue
        place = behind[0]
        referred.add(place)
        reached = place + len(figure)
        try:
            result = expression_value(expression)
        except (ValueError, LookupError, ArithmeticError) as error:
            add_diagnostic(place, f"{figure}: {expression}: {error}")
            continue
        if not quoted_figure_agrees(figure, how, result):
            add_diagnostic(place, f"{figure} is not {how} {result:.6g}, which is {expression}")
    for figure in FIGURE.finditer(prose):
        if figure.start() not in referred:
            words = " ".join([*quotable[: figure.start()].split()[-2:], figure[0]])
            add_diagnostic(
                figure.start(),
                f"where does {figure[0]} come from? Add a line to <!-- figures ... --> at the end:"
                f" {words} = [FILE of data/; CELLS of the row; COLUMN], or the arithmetic,"
                " = 16 / 128",
            )
    return sorted(found, key=lambda diagnostic: diagnostic[0])


# ---- the pages -----------------------------------------------------------------------------------


def page_or_prose_cell_texts(path):
    """(name, text) of a page, or of each prose cell of a notebook."""
    if path.suffix != ".ipynb":
        return [(str(path), path.read_text())]
    cells = json.loads(path.read_text())["cells"]
    return [
        (f"{path}, cell {k}", "".join(cell["source"]))
        for k, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
    ]


def files_with_quoted_figures():
    return [path for pattern in FILES for path in sorted(ROOT.glob(pattern))]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    wrong = [
        f"{name}:{line}: {what}"
        for path in parser.parse_args(arguments).files or files_with_quoted_figures()
        for name, text in page_or_prose_cell_texts(path)
        for line, what in check_quoted_figures(text)
    ]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
