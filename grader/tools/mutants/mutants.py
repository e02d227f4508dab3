"""python -m mutants.mutants [LAB...]: tests the checks by mutation.

Each mutant changes one operator, bound, index, barrier, fence, mask, atomic or type in a solution's kernels, and is
graded as a submission. A mutant that computes a different result, races, or costs more must lose points. The
run lists mutants that keep full marks; explained.toml gives a reason why each known one is no worse, and the run
fails on one without a reason.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lab32 import ROOT

EXPLAINED = ROOT / "grader/tools/mutants/explained.toml"
LABS = sorted(p.parent.name for p in ROOT.glob("solutions/*/*.cu"))

# (kind, pattern, replacement). Operators have blanks around them, template brackets do not.
RULES = [
    ("bound", r" < ", " <= "),
    ("bound", r" <= ", " < "),
    ("bound", r" > ", " >= "),
    ("bound", r" >= ", " > "),
    ("operator", r" == ", " != "),
    ("operator", r" != ", " == "),
    ("operator", r" && ", " || "),
    ("operator", r" \|\| ", " && "),
    ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "),
    ("operator", r" \* ", " + "),
    ("operator", r" / ", " * "),
    ("operator", r" % ", " / "),
    ("operator", r" \^ ", " + "),
    ("operator", r" & ", " | "),
    ("operator", r" << ", " >> "),
    ("operator", r" >> ", " << "),
    ("operator", r" \+= ", " = "),
    ("operator", r" \+= ", " -= "),
    ("operator", r" /= 2\b", " /= 4"),
    ("operator", r" >>= 1\b", " >>= 2"),
    ("operator", r"\+\+(\w+)\)", r"\1 += 2)"),
    ("index", r"\bthreadIdx\.x\b", "threadIdx.y"),
    ("index", r"\bthreadIdx\.x\b", "(threadIdx.x | 1)"),
    ("index", r"\bthreadIdx\.y\b", "threadIdx.x"),
    ("index", r"\bblockIdx\.x\b", "blockIdx.y"),
    ("index", r"\bblockIdx\.y\b", "blockIdx.x"),
    ("index", r"\bblockDim\.x\b", "gridDim.x"),
    ("index", r"\bgridDim\.x\b", "blockDim.x"),
    ("index", r"\[(\w+)\]\[(\w+)\]", r"[\2][\1]"),
    ("index", r"\blane\b(?! =)", "(lane | 1)"),
    ("index", r"\[([\w.]+)\]", r"[\1 + 1]"),
    ("number", r"(?<![\w.<>])([1-9]\d*)(?![\w.]|>)", lambda m: str(int(m[1]) + 1)),
    ("number", r"(?<![\w.<>])([1-9]\d*)(?![\w.]|>)", lambda m: str(int(m[1]) - 1)),
    ("number", r"(?<![\w.<>])0(?![\w.]|>)", "1"),
    ("number", r" \+ 1\]", "]"),
    ("barrier", r"__syncthreads\(\);", ";"),
    ("barrier", r"__syncwarp\(\w*\);", ";"),
    ("fence", r"__threadfence\(\);", ";"),
    ("fence", r"__threadfence\(\);", "__threadfence_block();"),
    ("mask", r"\b0xffffffffu?\b", "0x7fffffff"),
    ("mask", r"\bkFullMask\b", "0x0000ffff"),
    ("mask", r"\bkFull\b", "0x0000ffff"),
    ("atomic", r"atomicAdd\(([^,()]+), ", r"*(\1) += ("),  # the call's own closing parenthesis closes the new one
    ("atomic", r"atomicAdd\(", "atomicMax("),
    ("shuffle", r"__shfl_down_sync", "__shfl_up_sync"),
    ("shuffle", r"__shfl_xor_sync", "__shfl_down_sync"),
    ("shuffle", r"__shfl_up_sync", "__shfl_down_sync"),
    ("shuffle", r"__shfl_sync\(([^,]+), ([^,]+), [^)]+\)", r"\2"),
    ("type", r"\bfloat (\w+) = 0", r"int \1 = 0"),
    ("type", r"\bvolatile ", ""),
    ("type", r"\bunsigned (\w+) =", r"unsigned char \1 ="),
    ("type", r"\bint (\w+) =", r"signed char \1 ="),
    ("condition", r"\bif \([^()]*\) ", "if (true) "),
    ("condition", r"^  (?!.*(for|if|while|=|template|return))[^/{}]*;$", "  ;"),
]


@dataclass(frozen=True)
class Mutant:
    lab: str
    line: int
    column: int
    kind: str
    old: str  # the line
    new: str

    def mutated_source(self, source):
        lines = source.splitlines()
        lines[self.line - 1] = self.new
        return "\n".join(lines) + "\n"

    def key(self):
        return (self.lab, self.old.strip(), self.new.strip())


KERNEL = re.compile(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(")


def kernel_texts_of(path):
    """{name: text} of the kernels of a file."""
    texts, name = {}, None
    for line in path.read_text().splitlines() if path.exists() else ():
        if found := KERNEL.search(line):
            name = found[1]
            texts[name] = ""
        if name:
            texts[name] += line + "\n"
        if line == "}":
            name = None
    return texts


def given_kernels(lab):
    """Names of kernels that the grader compiles from its own copy, and of kernels that the skeleton shares with the
    solution; students only read these."""
    skeleton, solution = (kernel_texts_of(ROOT / f"{top}/{lab}/{lab}.cu") for top in ("labs", "solutions"))
    same = {name for name in solution if solution[name] == skeleton.get(name)}
    return same | kernel_texts_of(ROOT / f"grader/labs/{lab}/given.cu").keys()


def code_lines(source, skipped_kernels=()):
    """(number, line) of the lines of kernels and their functions, except given ones."""
    skipped = False
    for number, line in enumerate(source.splitlines(), 1):
        bare = line.split("//")[0]
        if kernel := KERNEL.search(bare):
            skipped = kernel[1] in skipped_kernels
        if skipped:
            skipped = line != "}"
            continue
        head = bare.startswith(("#", "template", "LAB32_", "//", "static_assert", "using"))
        signature = "__global__" in bare or "__device__" in bare or bare.rstrip().endswith(",")
        if bare.strip() and not head and not (signature and not bare.startswith(" ")):
            yield number, line, bare


def mutants_of(lab, source):
    seen = set()
    for number, line, bare in code_lines(source, given_kernels(lab)):
        for kind, pattern, by in RULES:
            for found in re.finditer(pattern, bare):
                to = by(found) if callable(by) else found.expand(by)
                new = line[: found.start()] + to + line[found.end() :]
                if new != line and (number, new) not in seen:
                    seen.add((number, new))
                    yield Mutant(lab, number, found.start(), kind, line, new)


def sample_by_kind(mutants, count, seed):
    """`count` mutants, with equal numbers of all kinds as far as possible."""
    shuffled = random.Random(seed).sample(mutants, len(mutants))
    kinds = {}
    for mutant in shuffled:
        kinds.setdefault(mutant.kind, []).append(mutant)
    chosen = []
    while len(chosen) < min(count, len(mutants)):
        for of_kind in kinds.values():
            if of_kind and len(chosen) < count:
                chosen.append(of_kind.pop())
    return sorted(chosen, key=lambda m: (m.line, m.column, m.new))


def grade(lab, mutants, folder):
    """The rows of build/lab32_mutants, for the solution and for each mutant."""
    solution = ROOT / f"solutions/{lab}/{lab}.cu"
    source = solution.read_text()
    files = [solution]
    for i, mutant in enumerate(mutants):
        files.append(folder / f"{lab}-{i}.cu")
        files[-1].write_text(mutant.mutated_source(source))
    command = [str(ROOT / "build/lab32_mutants"), lab, *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def explained_mutants():
    """{key: the reason why it is no worse}"""
    if not EXPLAINED.exists():
        return {}
    rows = tomllib.loads(EXPLAINED.read_text())["survivor"]
    return {(row["lab"], row["old"], row["new"]): row["why"] for row in rows}


def print_results(lab, mutants, rows, explained):
    """Prints the results of a lab; returns the number of surviving mutants without an explanation."""
    solved, rows = rows[0], rows[1:]
    assert solved["score"] == solved["max_score"], f"the solution of {lab} loses points"
    counts = dict.fromkeys(("killed", "same code", "do not compile", "explained", "unexplained"), 0)
    for mutant, row in zip(mutants, rows, strict=True):
        if not row["compiled"]:
            fate = "do not compile"
        elif row["same"]:
            fate = "same code"
        elif row["score"] < row["max_score"]:
            fate = "killed"
        else:
            fate = "explained" if mutant.key() in explained else "unexplained"
        counts[fate] += 1
        if fate == "unexplained":
            print(f"  solutions/{lab}/{lab}.cu:{mutant.line} ({mutant.kind})")
            print(f"    - {mutant.old.strip()}\n    + {mutant.new.strip()}")
    real = counts["killed"] + counts["explained"] + counts["unexplained"]
    print(f"{lab}: {real} mutants: " + ", ".join(f"{n} {fate}" for fate, n in counts.items()), flush=True)
    return counts["unexplained"]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labs", nargs="*", default=LABS)
    parser.add_argument("--count", type=int, default=90, help="mutants per lab (90); 0: all")
    parser.add_argument("--seed", type=int, default=1, help="seed for drawing mutants (1)")
    parser.add_argument("--jsonl", type=Path, help="writes each mutant's result to this file")
    options = parser.parse_args(arguments)
    explained, unexplained = explained_mutants(), 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        work = {}
        for lab in options.labs:
            every = list(mutants_of(lab, (ROOT / f"solutions/{lab}/{lab}.cu").read_text()))
            mutants = sample_by_kind(every, options.count or len(every), options.seed)
            work[lab] = mutants, pool.submit(grade, lab, mutants, Path(name))
        for lab, (mutants, rows) in work.items():
            unexplained += print_results(lab, mutants, rows.result(), explained)
            if options.jsonl:
                with open(options.jsonl, "a") as file:
                    for mutant, row in zip(mutants, rows.result()[1:], strict=True):
                        file.write(json.dumps(mutant.__dict__ | row) + "\n")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
