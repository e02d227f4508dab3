"""Draws comments and names at random, for a reader who has not seen the code and says what each means.

usage: sample.py [--seed N] [--count N]

Prints N comments, each with the line of code behind it, and N declared names, each with its declaration and,
for a member, its class. Neither has its file's name in front, so that it must be understood from its own words.
"""

import argparse
import ast
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import language

DECLARED = re.compile(
    r"^\s*(?:struct|class|enum class|enum) (\w+)[^;]*\{$"  # a type
    r"|^ {0,2}(?! |return\b|else\b|new\b|case\b)[\w:<>,*& ]+[ *&](?:\w+::)*(\w+)\([^;]*[{,]$"  # a function that is defined
    r"|^\s*def (\w+)\(|^class (\w+)"
)
LEAST_WORDS = 6  # a shorter comment is a heading


def sources():
    for name in language.files():
        if re.match(r"grader/.*\.(h|cpp|py)$", name) and "/tests/" not in name:
            yield name, (language.ROOT / name).read_text()


def documented_lines(text):
    """{line of a docstring: the line of its class or function; for a module's, the line below the docstring}"""
    lines = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            string = node.body[0]
            shown = string.end_lineno + 1 if isinstance(node, ast.Module) else node.lineno
            lines |= dict.fromkeys(range(string.lineno, string.end_lineno + 1), shown)
    return lines


def comments_of(name, text):
    """(comment and the next line of code, its place); a comment behind code stands alone.

    A docstring is shown with the line that it documents, which is above it.
    """
    lines = text.splitlines()
    documented = documented_lines(text) if name.endswith(".py") else {}
    if name.endswith(".py"):
        found = language.of_python(text)[0]
    else:
        own_lines, behind_code = [], []
        for number, line in enumerate(lines, 1):
            behind = re.match(r"(\s*[^\s/].*)// (.*)", line)
            continues = re.match(r"(\s+)// (.*)", line)
            own_lines.append(behind[1] if behind else line)
            if behind:
                behind_code.append((number, behind[2]))
                column, last = len(behind[1]), number
            elif continues and behind_code and (len(continues[1]), number - 1) == (column, last):
                behind_code[-1] = (behind_code[-1][0], f"{behind_code[-1][1]} {continues[2]}")
                own_lines[-1], last = "", number
        found = language.of_cpp("\n".join(own_lines))[0] + behind_code
    for number, comment in found:
        first = documented.get(number, number)
        after = (line for line in lines[first - 1 :] if not re.match(r"\s*(//|#|$)", line))
        if len(comment.split()) >= LEAST_WORDS and not re.match(r"noqa|fmt:", comment):
            yield f"{comment}\n      | {next(after, '').strip()}", f"{name}:{number}"


def names_of(name, text):
    enclosing = ""  # the class that a declaration stands in
    for number, line in enumerate(text.splitlines(), 1):
        if outer := re.match(r"(?:class|struct|union) (\w+)[^;]*[{:,]$", line):
            enclosing = outer[1]
        elif re.match(r"[\w}]", line) and not line.startswith("template"):
            enclosing = ""
        if found := DECLARED.match(line):
            word = next(filter(None, found.groups()))
            member = f"  (of {enclosing})" if line[0] == " " and enclosing else ""
            if not re.match(r"(if|for|while|switch|main|__init__|operator|alignas)$|(cu|cuda|cublas)[A-Z]|__cuda", word):  # not ours
                yield f"{word}{member}\n      | {line.strip()}", f"{name}:{number}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--places", action="store_true", help="where each stands, to check the answers")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for title, reader in (("comments", comments_of), ("names", names_of)):
        found = [item for name, text in sources() for item in reader(name, text)]
        print(f"== {title}: {options.count} of {len(found)}")
        for k, (text, place) in enumerate(draw.sample(found, options.count), 1):
            print(f"{k:3}. {place if options.places else text}")


if __name__ == "__main__":
    main()
