"""Makes a complete submission from a solution and a file that holds only the definitions that it replaces."""

import re


def split_cpp_top_level_definitions(source):
    """[(name, text)] of the definitions at the top level; text between two has the name "". The rules are those of
    tests/fixtures/splice.cpp."""
    found, depth, inside = [], 0, False
    for line in source.splitlines(keepends=True):
        between = not inside and (not line.strip() or line.startswith(("#", "//")))
        if not inside:
            found.append(["", ""])
        found[-1][1] += line
        if between:
            continue
        inside = True
        code = line.split("//")[0].rstrip()
        depth += code.count("{") - code.count("}")
        if depth <= 0 and code.endswith(("}", ";")):
            inside = False
            found[-1][0] = definition_name(found[-1][1])
    return found


def definition_name(text):
    if text.startswith("LAB32_"):
        return text.split(",")[0]
    bounds = re.search(r"__(launch_bounds|maxnreg)__\([^)]*\)", text)
    head = text[bounds.end() if bounds else 0 :].split("(")[0]
    return re.split(r"[ *&\n]", head)[-1]


def replace_definitions(base, changes):
    """`base` with chunks replaced by those of `changes` with the same names; new chunks come first."""
    parts, fresh, first = split_cpp_top_level_definitions(base), "", None
    for name, text in split_cpp_top_level_definitions(changes):
        same = next((k for k, part in enumerate(parts) if name and part[0] == name), None)
        if same is None:
            fresh += text
        else:
            parts[same][1] = text
            first = same if first is None else min(first, same)
    texts = [text for _, text in parts]
    texts.insert(len(texts) if first is None else first, fresh)
    return "".join(texts)
