"""Reads the kernels of a submission's PTX in a form without names, comments and layout: registers, labels
and symbols are numbered in the order of first use, and constants stay."""

import hashlib
import re
from dataclasses import dataclass, field

GRAM = 6  # instructions per fingerprint
MOST = 20_000  # instructions per kernel that are compared; the longest solution has 3,000

LOCATION = re.compile(
    r"\.loc\s+(\d+) (\d+) (\d+)(?:, function_name \S+, inlined_at (\d+) (\d+) (\d+))?"
)
FILE = re.compile(r'\.file\s+(\d+) "([^"]*)"')
HEAD = re.compile(r"(?:\.\w+\s+)*\.(entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$]+)")
# Names that are numbered. Special registers (%tid.x, %laneid, %envreg1) keep theirs, because they say what a kernel does.
VARIABLE = re.compile(
    r"%(?P<register>rd|rs|rh|rb|fd|rq|r|f|h|b|p)\d+\b"
    r"|(?P<label>\$L_\w+)"
    r"|[\w$]+_(?P<parameter>param_\d+)\b"
    r"|(?<![\w.%$])(?P<symbol>[A-Za-z_$][\w$]*)(?=\s*(?:[\],;+)]|$))"
)
# A student can change int to unsigned in a moment, and ptxas compiles both nearly alike.
SIGN = re.compile(r"\.[sub](8|16|32|64)\b")
# Comparisons > are written as <, with exchanged operands.
LESS = str.maketrans("g", "l")
TURNED = re.compile(r"(.*\bsetp\.)(gt|ge)(u?\.\w+\s+[^,]+),\s*([^,]+),\s*([^,]+)")


@dataclass
class NormalisedPtxInstruction:
    pieces: tuple  # of an instruction: a text, then (kind, name) and a text in turn
    lines: frozenset  # the lines of the submission from which it was compiled


@dataclass
class KernelPtx:
    name: str  # in the submission's file; overloads and instances of a template have one name
    body: list = field(default_factory=list)

    def window_fingerprints(self):
        """The fingerprints, {fingerprint: lines}: one for every GRAM consecutive instructions."""
        out = {}
        count = min(GRAM, len(self.body))
        for at in range(len(self.body) - count + 1 if count else 0):
            window = self.body[at : at + count]
            lines = out.setdefault(fingerprint(window), set())
            for instruction in window:
                lines |= instruction.lines
        return out


def fingerprint(window):
    """Names are numbered anew in each window, so that code inserted before a window does not change its fingerprint."""
    text, numbers, counts = [], {}, {}
    for instruction in window:
        for piece in instruction.pieces:
            if isinstance(piece, str):
                text.append(piece)
                continue
            if piece not in numbers:
                kind = piece[0]
                numbers[piece] = f"{kind}{counts.get(kind, 0)}"
                counts[kind] = counts.get(kind, 0) + 1
            text.append(numbers[piece])
        text.append("\n")
    data = "".join(text).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def base_name(mangled):
    """The name of a function from its mangled name: `transpose` for _Z9transposeILi32EEvPKfPf and for
    _ZN4mine9transposeEv. Other names are returned unchanged."""
    at, name = 2, ""
    if not mangled.startswith("_Z"):
        return mangled
    while at < len(mangled) and mangled[at] in "NKL":
        at += 1
    while found := re.match(r"[1-9]\d*", mangled[at:]):
        length = int(found[0])
        at += len(found[0])
        name = mangled[at : at + length]
        at += length
    return name or mangled


def normalised_ptx_statement(statement):
    out, at = [], 0
    # Adding __restrict__ changes `ld.global` to `ld.global.nc`, and is as easy as changing a sign.
    statement = SIGN.sub(r".i\1", statement).replace("ld.global.nc.", "ld.global.")
    if turned := TURNED.fullmatch(statement):
        start, how, rest, first, second = turned.groups()
        statement = f"{start}{how.translate(LESS)}{rest}, {second}, {first}"
    opcode = re.match(r"(?:@!?%p\d+\s+)?[\w.:]+", statement)
    for found in VARIABLE.finditer(statement):
        if found["symbol"] and opcode and found.start() < opcode.end():
            continue  # `ret`
        if found["register"]:
            piece = (found["register"], found[0])
        elif found["parameter"]:
            piece = found["parameter"]
        else:
            piece = ("L" if found["label"] else "S", found[0])
        out += [re.sub(r"\s+", " ", statement[at : found.start()]), piece]
        at = found.end()
    return (*out, re.sub(r"\s+", " ", statement[at:]))


def kernels_of(ptx, file):
    """The kernels in a text of PTX, and its functions that were not inlined, without the grader's own. `file`
    is the submission's name in the PTX."""
    numbers = {number for number, name in FILE.findall(ptx) if name == file}
    out, kernel, depth, here = [], None, 0, frozenset()
    callers = {}  # {place: the place that it was inlined at}
    for line in ptx.splitlines():
        line = line.partition("//")[0].strip()
        if not line:
            continue
        if depth == 0:
            if found := HEAD.match(line):
                kernel, callers, here = None, {}, frozenset()
                if "lab32_given" not in found[2]:
                    kernel = KernelPtx(base_name(found[2]))
            if line.endswith(";") and not line.startswith("{"):
                kernel = None  # a declaration or a variable
        if found := LOCATION.match(line):
            here = submission_lines_of_ptx_loc(found, numbers, callers)
            continue
        before = depth
        depth += line.count("{") - line.count("}")
        if before == 0 and depth > 0 and kernel:
            out.append(kernel)
        if before == 0 or not kernel or line.startswith((".", "$L_")):
            continue
        for statement in line.strip("{}").split(";"):
            if (statement := statement.strip()) and len(kernel.body) < MOST:
                kernel.body.append(NormalisedPtxInstruction(normalised_ptx_statement(statement), here))
    return out


def submission_lines_of_ptx_loc(found, numbers, callers):
    """The submission's lines for one .loc: its own line and the lines that it was inlined at."""
    place, caller = found.group(1, 2, 3), found.group(4, 5, 6)
    if caller[0]:
        callers[place] = caller
    out, steps = set(), 0
    while place and place[0] and steps < 16:
        if place[0] in numbers and place[1] != "0":
            out.add(int(place[1]))
        place = callers.get(place) if steps or caller[0] else None
        steps += 1
    return frozenset(out)


def kernel_fingerprints(ptx, file, given=frozenset()):
    """{kernel: {fingerprint: lines of the file}} without the prints in `given`. Instances of a template are
    merged."""
    out = {}
    for kernel in kernels_of(ptx, file):
        lines = out.setdefault(kernel.name, {})
        for print_, where in kernel.window_fingerprints().items():
            if print_ not in given:
                lines.setdefault(print_, set()).update(where)
    return {name: lines for name, lines in out.items() if lines}


def merged_kernel_fingerprints(ptx, file):
    """The fingerprints of a skeleton."""
    return frozenset(print_ for lines in kernel_fingerprints(ptx, file).values() for print_ in lines)
