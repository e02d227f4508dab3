"""Derives values in data/devices from the H200's, by the rules in their comments.

A comment "as h200" marks a derived value. After a comma follows how it is scaled, after a semicolon a
note for the reader:

        as h200                      the value of the H200
        in clocks                    a time in seconds; the number of clocks is that of the H200
        per clock                    a rate; the amount per clock is that of the H200
        per slice, per channel       in proportion to the slices of L2 or the channels of device memory
        the same share of L2         in proportion to the size of L2
        times A / B                  times the ratio of figures published for the card and for a Hopper card

`python -m lab32.devices` writes the derived values; a test fails if they are out of date.
"""

import re
import sys
import tomllib

from lab32 import ROOT

SOURCE = "h200"
LINE = re.compile(
    r"(?P<name>\w+) = (?P<value>[-+.\w]+)(?P<gap> +)# as h200(?P<rule>(?:, [^;]*)?)(?P<rest>(?:;.*)?)"
)
RULES = {
    "in clocks": lambda card: 1 / card("clock", "sm_hz"),
    "per clock": lambda card: card("clock", "sm_hz"),
    "per slice": lambda card: card("caches", "l2_slices"),
    "per channel": lambda card: card("memory", "dram_banks"),
    "the same share of L2": lambda card: card("memory", "l2_bytes"),
}


def derived_value_scale(rule, ratio_to_h200):
    """The factor by which a rule scales the H200's value. `ratio_to_h200(table, key)` is the card's value divided by the
    H200's."""
    product = 1.0
    for part in filter(None, (part.strip() for part in rule.split(","))):
        times = re.fullmatch(r"times ([\d.]+) / ([\d.]+)", part)
        if not times and part not in RULES:
            raise SystemExit(
                f"there is no rule `{part}`; there are: {', '.join(RULES)}, times A / B"
            )
        product *= float(times[1]) / float(times[2]) if times else RULES[part](ratio_to_h200)
    return product


def profile_with_scaled_values(text, h200_profile):
    """The text of a profile with its derived values computed from `h200_profile`, the H200's profile."""
    card, table, lines = tomllib.loads(text), None, []

    def ratio_to_h200(name, key):
        return card[name][key] / h200_profile[name][key]

    for line in text.splitlines():
        if header := re.fullmatch(r"\[(\w+)\]", line):
            table = header[1]
        if found := LINE.fullmatch(line):
            value = h200_profile[table][found["name"]] * derived_value_scale(found["rule"], ratio_to_h200)
            whole = isinstance(h200_profile[table][found["name"]], int)
            shown = str(round(value)) if whole else f"{value:.4g}"
            head = f"{found['name']} = {shown}".ljust(39)
            line = f"{head} # as h200{found['rule']}{found['rest']}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def profile_files_with_rederived_text():
    """(file, its text, the text with newly derived values) for each profile except the H200's."""
    folder = ROOT / "data" / "devices"
    source = tomllib.loads((folder / f"{SOURCE}.toml").read_text())
    for path in sorted(folder.glob("*.toml")):
        if path.stem != SOURCE:
            text = path.read_text()
            yield path, text, profile_with_scaled_values(text, source)


def main():
    for path, text, fresh in profile_files_with_rederived_text():
        if text != fresh:
            path.write_text(fresh)
            print(f"{path}: written anew", file=sys.stderr)


if __name__ == "__main__":
    main()
