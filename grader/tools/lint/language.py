"""The language of comments, messages and pages: full sentences with a subject that does something.

usage: language.py [--count] [FILE...]      of all files that git knows, where none is named
       language.py --messages [FILE...]     lists the messages that students and instructors can read

Prints FILE:LINE: RULE: the words, and ends with status 1 when it has found something. The rules are
a table (RULES); each has an example of what it refuses, which test_language.py tries.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# A sentence begins at the start of a comment, or behind a full stop, a colon or a semicolon.
START = r"(?:^|(?<=[.:;!?] )|(?<=\) ))"


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern
    instead: str  # what to write
    example: str  # what it refuses


def rule(name, pattern, instead, example):
    return Rule(name, re.compile(pattern), instead, example)


RULES = [
    rule("fragment", START + r"(?:Of (?!course)|Likewise\b|The same\b(?! \w+ (?:is|are|has|have|as|in|for|with|runs?|gives?)\b))",
         "a sentence with a subject and a verb", "Of these, the first that fits."),
    rule("bare who", r"\b(?:[Ww]hoever|[Ww]homever|[Ss]omebody|[Ss]omeone|[Nn]obody)\b|" + START + r"(?:Who|Those who|He who)\b(?![^.]*\?)"
         r"|\b(?:for|to|from|by|than|if|but|and|as|of) who (?:has|have|is|does|do|wants?|needs?|reads?|asks?|gets?|takes?|runs?|knows?)\b",
         "the submission, the kernel, the thread, the student, the caller", "Whoever asks gets the first."),
    rule("bare what", START + r"What (?:is|was|are|has|have|does|do|comes?|stands?|lies|goes|went|cannot|can|must|follows?)\b(?![^.]*\?)",
         "name the thing", "What is of the rest says so."),
    rule("riddle", r"\bone with another\b|\bthat is not so\b|\bas it stands\b|\bshared out\b|\bof the rest\b|\bby lot\b|\bcomes? of it\b"
         r"|\bthe like of\b|\bin its turn\b|\bother than one\b|\bone beside the other\b",
         "the field's term: on average, wrong, distributed, slow, random", "13 % do, one with another."),
    rule("private word", r"\b(?:yardstick|contender|mend(?:s|ed|ing)?|meetings|aforesaid)\b",
         "baseline, competitor, repair, join points", "The yardstick is a copy."),
    rule("number", r"(?<![\d.,])(?<!x )\b1 (?:requests|sectors|wavefronts|threads|blocks|warps|lanes|bytes|words|elements|points|lines|files|launches|checks|instructions|conflicts)\b",
         "1 request", "It takes 1 requests."),
]
MARKDOWN_COLUMNS = 100

NOT_OURS = re.compile(
    r"/submissions/|/golden/|^data/documented/|^data/measured/.*\.csv|third_party|/fixtures/fuzz/|/tests/data/|handouts/zh/|\.svg$|\.ipynb$"
    r"|^grader/tools/lint/|^grader/tests/.*/test_language\.py"
)


def files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not NOT_OURS.search(name)]


def paragraphs(lines):
    """[(line number, text)] of (line number, text) of single lines: neighbours are joined."""
    joined, last = [], None
    for number, text in lines:
        if joined and last == number - 1 and text:
            joined[-1][1].append(text)
        elif text:
            joined.append((number, [text]))
        last = number if text else None
    return [(number, " ".join(parts)) for number, parts in joined]


CPP = re.compile(r'//(?P<comment>[^\n]*)|"(?P<text>(?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)\'')


def of_cpp(text):
    """(comments, joined line by line; strings that are sentences)"""
    comments, strings = [], []
    for number, line in enumerate(text.splitlines(), 1):
        for found in CPP.finditer(line):
            if (found["comment"] or "").startswith("!"):
                continue  # what a program of the corpus must print
            if found["comment"] is not None:
                comments.append((number, found["comment"].strip()))
            elif found["text"] and " " in found["text"].strip():
                strings.append((number, found["text"]))
    return paragraphs(comments), strings


def of_python(text):
    """(comments and docstrings, other strings that are sentences)"""
    own_lines, comments, strings = [], [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            behind_code = token.line[: token.start[1]].strip()
            (comments if behind_code else own_lines).append((token.start[0], token.string.lstrip("#: ").rstrip()))
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            lines = ((node.lineno + k, line.strip()) for k, line in enumerate(node.value.splitlines()))
            (comments if id(node) in docstrings else strings).extend(paragraphs(lines))
    return sorted(comments + paragraphs(own_lines)), strings


def of_hash_comments(text):
    lines = enumerate(text.splitlines(), 1)
    return paragraphs((n, m[1].strip()) for n, line in lines if (m := re.match(r"\s*#+!?(.*)", line))), []


def of_markdown(text):
    """Paragraphs without code; table cells one by one."""
    out, plain, code = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("```"):
            code = not code
        elif code:
            continue
        elif line.startswith("|"):
            out += [(number, cell.strip()) for cell in re.sub(r"`[^`]*`", "`x`", line).split("|") if " " in cell.strip()]
        else:
            plain.append((number, re.sub(r"^(?:[-*>]|\d+\.|#+)\s+", "", line.strip())))
    return out + paragraphs(plain), []


READERS = {
    ".cpp": of_cpp, ".h": of_cpp, ".cu": of_cpp, ".cuh": of_cpp, ".def": of_cpp, ".inc": of_cpp,
    ".py": of_python, ".md": of_markdown, ".toml": of_hash_comments, ".sh": of_hash_comments, ".mk": of_hash_comments,
}  # fmt: skip


def reader_of(name):
    if Path(name).name in ("Makefile", "setup", "install", "run"):
        return of_hash_comments
    return READERS.get(Path(name).suffix)


def problems(name, text):
    """[(line, rule's name, words)]"""
    found = []
    read = reader_of(name)
    comments, strings = read(text) if read else ([], [])
    for number, words in comments + strings:
        for each in RULES:
            for match in each.pattern.finditer(words):
                at = match.start()
                found.append((number, each.name, words[max(0, at - 20) : at + 60]))
    if name.endswith(".md"):
        found += too_wide(text)
    return found


def too_wide(text):
    """Lines of prose over the limit; a table's row cannot be broken, nor can code or a link."""
    code = comment = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = "-->" not in line if comment else line.startswith("<!--") and "-->" not in line
        if line.strip().startswith("```"):
            code = not code
        elif len(line) > MARKDOWN_COLUMNS and not code and not comment and not line.startswith(("|", "<!--", "![", "<details")) and " " in line[:MARKDOWN_COLUMNS].strip():
            yield number, "wide line", f"{len(line)} columns: {line[:60]}"


# ---- messages: every sentence that the programs can print ---------------------------------------

# Folders whose strings reach a student or an instructor.
SPEAKING = re.compile(
    r"^grader/(?:app|base|device|gpu|grading|labs|pictures|report|runtime|simulator|toolchain|python/lab32|setup)/|^data/limits/.*\.toml$"
)
SILENT = re.compile(r"/tests/|/measure/|/fixtures/|/(?:figures|tables)\.py$|/include/|\.def$")

CPP_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|'(?:[^'\\\n]|\\.)+'|(?P<gap>\s+)|\w+|.",
    re.DOTALL,
)


def messages_of_cpp(text):
    """[(line, text)]: string literals; neighbours that the compiler joins are one."""
    found, line, joins = [], 1, False
    for token in CPP_TOKEN.finditer(text):
        words = token["text"] if token["text"] is not None else token["raw"]
        if words is not None:
            if joins:
                found[-1] = (found[-1][0], found[-1][1] + words)
            else:
                found.append((line, words))
            joins = True
        elif token["gap"] is None and token["comment"] is None:
            joins = False
        line += token[0].count("\n")
    return found


def messages_of_python(text):
    """[(line, text)]: strings without docstrings; `{}` stands for the values of an f-string."""
    tree = ast.parse(text)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    skipped = parts | {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            words = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            found.append((node.lineno, "".join(words)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            found.append((node.lineno, node.value))
    return sorted(found)


def messages_of_toml(text):
    """[(line, text)]: the hints of questions."""
    lines = enumerate(text.splitlines(), 1)
    return [(number, hint[1]) for number, line in lines if (hint := re.match(r'hint = "(.*)"', line))]


MESSAGES = {".cpp": messages_of_cpp, ".h": messages_of_cpp, ".py": messages_of_python, ".toml": messages_of_toml}


def messages(names):
    """[(file, line, text)] of all that the programs can print in words, by module."""
    for name in sorted(names):
        read = MESSAGES.get(Path(name).suffix)
        if not read or not SPEAKING.search(name) or SILENT.search(name):
            continue
        for line, text in read((ROOT / name).read_text()):
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3 and " " in text.strip():
                yield name, line, text


# ---- names that a comment or a page gives ---------------------------------------------------------

PATH = re.compile(r"(?<![\w/.$<>*-])((?:[\w-]+/)*[\w-]+\.(?:cpp|h|cu|cuh|def|py|mk|sh|md|toml))\b(?![\w*<{])")


def missing_files(name, text, known, base_names):
    """[(line, "no such file", path)]: files that a comment or a page names and that are not there."""
    read = reader_of(name)
    comments, _ = read(text) if read else ([], [])
    for number, words in comments:
        for path in PATH.findall(words):
            if re.search(r"[A-Z]{3}|/ID\.", path) and not path.endswith(".md"):
                continue  # a placeholder: LAB/LAB.cu
            if path in base_names or any(place in known for place in (path, f"grader/{path}", f"grader/simulator/{path}", str(Path(name).parent / path))):
                continue
            if any(each.endswith("/" + path) for each in known):
                continue
            yield number, "no such file", path


# Files of students, of programs that are written elsewhere, and examples.
NAMES_OF_OTHERS = {
    "x.cu", "kernel.cu", "program.cu", "PROGRAM.cu", "FILE.cu", "LAB.cu", "NAME.cu", "a.cu", "main.cu", "util.h", "setup.py",
    "b.cu", "c.cpp", "p.cu", "q.cu", "number.h", "cufft.h", "cuda_fp8.h",
    "cell.cu", "lastfirst_12345_67890_reduction-1.cu", "ann_reduction.cu", "ID.toml",
    "cuda_occupancy.h", "cuda_runtime.h", "cublas_v2.h", "curand_kernel.h", "cuda.h", "course.toml", "answers.toml", "NAME.toml", "LAB.toml",
}  # fmt: skip


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", action="store_true", help="only how often each rule is broken")
    parser.add_argument("--messages", action="store_true", help="list messages instead of checking the language")
    options = parser.parse_args(arguments)
    if options.messages:
        for name, line, text in messages(options.files or files()):
            print(f"{name}:{line}: {text}")
        return 0
    known = set(subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
    base_names = {Path(each).name for each in known} | NAMES_OF_OTHERS
    counted = Counter()
    for name in options.files or files():
        if not reader_of(name) or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text()
        for number, kind, words in [*problems(name, text), *missing_files(name, text, known, base_names)]:
            counted[kind] += 1
            if not options.count:
                print(f"{name}:{number}: {kind}: {words}")
    if options.count:
        for kind, times in counted.most_common():
            print(f"{times:6} {kind}")
    return 1 if counted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
