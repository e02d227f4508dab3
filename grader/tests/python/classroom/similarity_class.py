"""Classes with known copies, for tests of `lab32 similarity`. The thresholds were chosen from the output of this
program:

.venv/bin/python grader/tests/python/classroom/similarity_class.py [LAB...]

copied() makes copies of correct submissions. Independent submissions consist of kernels that
grader/labs/*/submissions/correct writes anew: no two in a class have a kernel of the same origin.
"""

import argparse
import random
import re
from collections import defaultdict
from functools import cache
from itertools import combinations

from synthetic_class import LABS, chunks, corpus, replace_definitions

from lab32 import ROOT
from lab32.classroom.collect import SubmittedFile
from lab32.similarity import pairs, tokens
from lab32.similarity.compiled import SubmissionCompiler

STUDENTS = ROOT / "grader/tests/python/data/students"
LISTED = defaultdict(list)  # single kernels that measure() found
# Its macros span several lines, which chunks() would take for code.
NO_COPY = {"correct/whole_program"}
TYPES = "int|float|unsigned|unsigned int|double|short|char|bool|auto|size_t|long long|float4|float2|int4"
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|\w+|\s+|.", re.DOTALL)
OPERANDS = re.compile(r"(?<![\w.)\]<+*/-] )(?<![\w.)\]])\b([a-z]\w*) < ([a-z]\w*)(?= &&|\)|;| \?)")


def declared(source):
    """Names of variables that can be renamed."""
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", source, flags=re.DOTALL)
    found = re.findall(rf"\b(?:{TYPES})\b[ *&]+(?:__restrict__ )?([a-z]\w*)\b(?!\s*[(<:])", code)
    found += re.findall(r", ([a-z]\w*) = ", code)
    fields = set(re.findall(r"(?:\.|->)\s*(\w+)", source))
    quoted = set(re.findall(r"\w+", " ".join(re.findall(r'"[^"\n]*"', source))))
    fixed = set(re.findall(r"\w+", "".join(re.findall(r"^#.*$|^LAB32_.*$", source, re.M))))
    return sorted(
        set(found) - fields - quoted - fixed - {"n", "operator", *re.findall(r"\w+", TYPES)}
    )


def renamed(source, draw):
    words = ["value", "acc", "idx", "pos", "tmp", "cur", "res", "offs", "cnt", "item"]
    names = {name: f"{draw.choice(words)}_{i}" for i, name in enumerate(declared(source))}
    out, before = [], ""
    for token in TOKEN.findall(source):
        out.append(token if before.endswith(("#include ", ".")) else names.get(token, token))
        before = token if not token.isspace() else before
    return "".join(out)


def recommented(source, draw):
    source = re.sub(r"//[^\n]*", "", source)
    lines = []
    for line in source.splitlines():
        if line.strip().endswith(";") and draw.random() < 0.3:
            lines.append(f"  /* step {draw.randrange(100)} */")
        lines.append(line)
    return "\n".join(lines) + "\n"


def laid_out(source, draw):
    """Changes blanks and line breaks, except in directives."""
    lines = []
    for line in source.splitlines():
        if line.startswith("#") or line.endswith("\\") or (lines and lines[-1].endswith("\\")):
            lines.append(line)
            continue
        line = re.sub(r"^ +", lambda m: m[0] * draw.choice((1, 2, 3)), line)
        lines.append(re.sub(r" ([+*<]) ", lambda m: draw.choice((m[0], m[1] + " ")), line))
        if not line.strip() and draw.random() < 0.5:
            lines.pop()
    return "\n".join(lines) + "\n"


def reordered(source):
    """Reverses the order of the kernels, after everything that they may need."""
    kernels, rest = [], []
    for _, text in chunks(source):
        asked_for = re.search(r"^template __global__", text, re.M)
        (kernels if "__global__" in text and not asked_for else rest).append(text)
    behind = [text for text in rest if re.search(r"^template __global__", text, re.M)]
    rest = [text for text in rest if text not in behind]
    return "".join(rest + kernels[::-1] + behind)


def rewritten(source):
    """Changes that the PTX hardly shows: i += 1, b > a."""
    source = re.sub(r"\+\+(\w+)\)", r"\1 += 1)", source)
    return OPERANDS.sub(r"\2 > \1", source)


def edited(source):
    """Changes without effect on the results. nvcc undoes most of the first ones, but not the last two."""
    for old, new in (
        (r"(?<!\* )\b(blockIdx\.\w) \* (\w+) \+ (threadIdx\.\w)\b(?! [/%*])", r"\3 + \2 * \1"),
        (r"(\w+) /= 2\b", r"\1 >>= 1"),
        (r"threadIdx\.x % kWarpSize\b", "(threadIdx.x & 31)"),
        (r"threadIdx\.x / kWarpSize\b", "(threadIdx.x >> 5)"),
        (r"\[(\w+) \+ (\w+)\]", r"[\2 + \1]"),
        (r"\[(\w+) \* (\w+) \+ (\w+)\]", r"[\3 + \2 * \1]"),
        (r"\bconst (T|float|int)\* (\w+)(?=[,)])", r"const \1* __restrict__ \2"),
        (r"(__global__ void \w+\([^)]*\bint n\b[^)]*\) \{)", r"\1\n  if (n < 0) return;"),
    ):
        source = re.sub(old, new, source)
    return source


def copied(source, seed=1):
    """A copy of another student's file, disguised by several edits."""
    draw = random.Random(seed)
    return laid_out(recommented(reordered(rewritten(renamed(source, draw))), draw), draw)


def right_ones(lab):
    return [
        (name, text)
        for name, text in corpus(lab)
        if name == "solution" or name.startswith("correct/")
    ]


def own_kernels(lab, name):
    """Names of the kernels that a file of the corpus writes anew; None: all."""
    if name == "solution":
        return None
    text = (ROOT / "grader/labs" / lab / "submissions/correct" / f"{name.split('/')[1]}.cu").read_text()
    own = {chunk for chunk, _ in chunks(text) if chunk}
    known = {
        chunk for chunk, _ in chunks((ROOT / f"solutions/{lab}/{lab}.cu").read_text()) if chunk
    }
    return own if own & known else None


def writings(lab, prints):
    """{kernel: [prints]}, one entry per author of the kernel."""
    out = {}
    for name, one in prints.items():
        own = own_kernels(lab, name)
        for kernel, lines in one.items():
            if own is None or kernel in own:
                out.setdefault(kernel, []).append(lines)
    return out


def independent(kernels, draw):
    """A class {name: prints}. A student without a version of a kernel keeps the skeleton's."""
    size = max(map(len, kernels.values()))
    out = {f"s{i}": {} for i in range(size)}
    for kernel, several in kernels.items():
        for student, lines in zip(draw.sample(sorted(out), len(several)), several):
            out[student][kernel] = lines
    return out


def handed_in(lab):
    """{name: text}: plausible submissions that follow the handout, which two labs have."""
    skeleton = (ROOT / f"labs/{lab}/{lab}.cu").read_text()
    return {
        path.stem: replace_definitions(skeleton, path.read_text())
        for path in sorted(STUDENTS.glob(f"{lab}/*.cu"))
    }


@cache
def compiler():
    return SubmissionCompiler(ROOT / "build/lab32")


def prints_of(lab, texts):
    """{name: prints} for {name: text}."""
    given = compiler().fingerprints_of_skeleton(lab, ROOT / f"labs/{lab}/{lab}.cu")
    found = compiler().compile_all(lab, {name: SubmittedFile(text.encode(), name) for name, text in texts.items()}, given, 2)
    for name, one in found.items():
        if one.why:
            raise ValueError(f"{lab}, {name}: {one.why}")
    return {name: one.prints for name, one in found.items()}


def half(mine, theirs):
    """Every second kernel is replaced by another student's."""
    kept = sorted(mine)[::2]
    return {kernel: mine[kernel] for kernel in kept} | {
        kernel: lines for kernel, lines in theirs.items() if kernel not in kept
    }


def measure(lab, classes=20, most=None):
    """{kind of pair: [FingerprintOverlap]} for a lab, and how many pairs agree in each kernel, for independent submissions and for
    those that follow the handout. At most `most` files are copied."""
    right = dict(right_ones(lab))
    prints = prints_of(lab, right)
    originals = {n: text for n, text in list(right.items())[:most] if n not in NO_COPY}
    copies = prints_of(lab, {n: copied(text) for n, text in originals.items()})
    changed = prints_of(lab, {n: copied(edited(text), 2) for n, text in originals.items()})
    kernels = {name: all_ for name, all_ in writings(lab, prints).items() if len(all_) > 1}
    out = {"independent": [], "copies": [], "edited copies": [], "half copied": []}
    for seed in range(classes):
        members = independent(kernels, random.Random(seed))
        every = pairs.FingerprintFrequencies(members).compare_all_pairs()
        out["independent"] += totals(every)
        LISTED["independent"] += pairs.pairs_similar_in_one_kernel(every, set())
        if seed >= 3:
            continue
        for name, copy in copies.items():
            for what, one in (
                ("copies", copy), ("edited copies", changed[name]),
                ("half copied", half(copy, members["s0"])),
            ):  # fmt: skip
                group = members | {"of": prints[name], "by": one}
                pair = pairs.FingerprintFrequencies(group).compare_pair("by", "of")
                out[what] += totals([pair])
                LISTED[what] += pairs.pairs_similar_in_one_kernel([pair], set())
    natural = prints_of(lab, handed_in(lab))
    if natural:
        natural["solution"] = prints["solution"]
    every = pairs.FingerprintFrequencies(natural).compare_all_pairs()
    out["by the handout"] = totals(every)
    LISTED["by the handout"] += pairs.pairs_similar_in_one_kernel(every, set())
    by_handout = {}
    for one in natural.values():
        for kernel, lines in one.items():
            by_handout.setdefault(kernel, []).append(lines)
    return out, agreeing(kernels), agreeing(by_handout)


def totals(every):
    return [total for pair in every if (total := pair.overlap_of_all_kernels()).all]


def agreeing(kernels):
    """{kernel: (pairs of independent versions, pairs that agree by share alone)}."""
    out = {}
    for kernel, several in sorted(kernels.items()):
        every = list(combinations([lines.keys() for lines in several], 2))
        same = sum(len(a & b) >= pairs.THRESHOLD * len(a | b) for a, b in every)
        out[kernel] = len(every), same
    return out


def measure_text(lab, python):
    """{kind of pair: [share]} by compare50, for the new parts of each file of the corpus, original and copied."""
    texts = {"solution": (ROOT / f"solutions/{lab}/{lab}.cu").read_text()}
    for path in sorted(
        (ROOT / "grader/labs" / lab / "submissions/correct").glob("*.cu")
    ):  # unchanged files: new parts only
        if f"correct/{path.stem}" not in NO_COPY:
            texts[path.stem] = path.read_text()
    files = {name: SubmittedFile(text.encode(), name) for name, text in texts.items()}
    files |= {f"{name} copied": copied(text).encode() for name, text in texts.items()}
    files |= {f"by {path.stem}": path.read_bytes() for path in STUDENTS.glob(f"{lab}/*.cu")}
    found, _ = tokens.score_pairs_with_compare50(python, lab, files, ROOT / f"labs/{lab}/{lab}.cu", len(files) ** 2)
    out = {"independent": [], "copies": [], "by the handout": []}
    for a, b in combinations(sorted(files), 2):
        one = found.get((a, b))
        origins = [name.removesuffix(" copied") for name in (a, b)]
        if origins[0] == origins[1]:
            what = "copies"
        elif all(name.startswith("by ") for name in origins):
            what = "by the handout"
        elif origins == [a, b]:
            what = "independent"
        else:
            continue
        out[what].append((one.smaller_matched_share(), one.characters) if one else (0.0, 0))
    return out


def shown(values):
    """Summary of a list of shares."""
    values = sorted(values)
    if not values:
        return "none"
    at = [values[round(part * (len(values) - 1))] for part in (0, 0.5, 0.95, 1)]
    return f"{len(values):4} pairs: " + ", ".join(
        f"{word} {value:.2f}" for word, value in zip(("least", "median", "95 %", "most"), at)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="*", default=LABS)
    labs, every, by_text = parser.parse_args().labs, {}, {}
    try:
        python = tokens.install_compare50()
    except tokens.Compare50Unavailable as error:
        python = print(f"without compare50: {error}")
    for lab in labs:
        print(lab)
        found, agreed, by_handout = measure(lab)
        for what, several in found.items():
            every.setdefault(what, []).extend(several)
            print(f"  PTX, {what:20} {shown([one.weighted_jaccard_index() for one in several])}")
        for what, several in (measure_text(lab, python) if python else {}).items():
            by_text.setdefault(what, []).extend(several)
            print(f"  compare50, {what:20} {shown([share for share, _ in several])}")
        for kernel, (both, same) in agreed.items():
            print(f"  {kernel}: {same} of {both} independent pairs agree")
        for kernel, (both, same) in by_handout.items():
            print(f"  {kernel}: {same} of {both} pairs by the handout agree")
    print("all")
    for what, several in every.items():
        flagged = sum(
            one.weighted_jaccard_index() >= pairs.THRESHOLD and one.shared >= pairs.WEIGHT for one in several
        )
        print(f"  PTX, {what:20} {shown([one.weighted_jaccard_index() for one in several])}; suggested: {flagged}")
        print(f"    weight in common     {shown([one.shared for one in several])}")
        print(f"    single kernels that are listed: {len(LISTED[what])}")
    for what, several in by_text.items():
        flagged = sum(
            share >= tokens.THRESHOLD and characters >= tokens.CHARACTERS
            for share, characters in several
        )
        print(f"  compare50, {what:20} {shown([s for s, _ in several])}; suggested: {flagged}")


if __name__ == "__main__":
    main()
