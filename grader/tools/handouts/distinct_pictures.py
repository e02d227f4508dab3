"""Selects pictures worth inspecting: those that differ from the others in more than their numbers."""

import re
from dataclasses import replace

from lab32.pictures import draw_picture, picture_kinds
from lab32.pictures.access import draw_request_of_access, memory_lines_of_request
from lab32.pictures.chart import traffic_alt_text
from lab32.pictures.shuffles import lane_read_kind
from lab32.report import plots


def appearance_key_of_access(access, number):
    """Returns the form, cost and height of a drawn access, which is a key for accesses that look alike."""
    r = access["requests"][number]
    inactive = any(a is None for a in r["address"])
    return access["space"], r["kind"], r["bytes"], r["matrix"], r["cost"], r["ideal"], inactive, len(memory_lines_of_request(r)), access["ptx_level"]


def appearance_key(launch, kind):
    """Returns a key that is equal for pictures of a kind that look alike."""
    facts = launch[kind]
    if kind == "steps":
        return facts["threads"], len(facts["steps"]), facts["more"], any(s["warp_barrier"] for s in facts["steps"])
    if kind == "shuffles":
        return len(facts["shuffles"]), facts["more"], *sorted({lane_read_kind(s, lane) for s in facts["shuffles"] for lane in range(32)})
    if kind == "traffic":
        return re.sub(r"[\d.,]+ ?(kB|MB|GB|B|%)?", "#", traffic_alt_text(facts, launch["reference"]))
    if kind == "mappings":
        return facts[0]["name"], facts[0]["turned"]
    if kind == "race":
        return facts["missing"], facts["first"]["use"], facts["second"]["use"]
    return facts["kind"], facts["size"] > 0, 0 <= facts["offset"] < facts["size"], facts["offset"] < 0


def drawable_pictures_of_launch(launch):
    """[(kind, appearance, function that draws it)]"""
    found = []
    for kind in picture_kinds(launch) if "kernel" in launch or launch.get("mappings") else ():
        if kind == "access":
            found += [
                ("access", appearance_key_of_access(a, a["worst"]), lambda a=a: draw_request_of_access(a, a["worst"])) for a in launch["accesses"]
            ]
        elif kind == "mappings":
            found += [(kind, appearance_key({kind: [m]}, kind), lambda m=m: draw_picture({**launch, "mappings": [m]}, "mappings")) for m in launch[kind]]
        else:
            found.append((kind, appearance_key(launch, kind), lambda kind=kind: draw_picture(launch, kind)))
    return found


class SeenPictures:
    """Remembers appearances, and yields each picture or plot of results once."""

    def __init__(self):
        self.appearances, self.texts = set(), set()

    def is_new(self, *appearance):
        new = appearance not in self.appearances
        self.appearances.add(appearance)
        return new

    def unseen_svg_pictures(self, result):
        """[(where, kind, Canvas)]"""
        for lab in result.labs:
            drawn = [(make.__name__, make(lab)) for make in (plots.plot_counts_over_needed, plots.plot_speedup_over_previous_version, plots.plot_simulated_and_documented)]
            for name, canvas in [*drawn, ("times", plots.plot_times_by_check(lab, result.device))]:
                if canvas and canvas.inline_svg() not in self.texts:
                    self.texts.add(canvas.inline_svg())
                    yield f"{lab.name}: {name}", f"plot of {name}", canvas
            for test in lab.tests:
                for kind, appearance, draw_it in drawable_pictures_of_launch(test.pictures or {}):
                    if self.is_new(kind, appearance):
                        yield f"{lab.name}: {test.name}, {kind}", kind, draw_it()


def result_with_distinct_pictures(result):
    """The result with each kind of message and picture once per lab (accesses: once per memory), and one source listing."""
    return replace(result, labs=[replace(lab, tests=without_repeated_tests_and_pictures(lab.tests)) for lab in result.labs])


def without_repeated_tests_and_pictures(tests):
    had, out = set(), []

    def is_new(kind):
        return kind not in had and not had.add(kind)

    for test in tests:
        # Messages that differ only in names and numbers count as one; the first is kept.
        if test.message and not is_new((test.status, re.sub(r"`.*?`|\d+|\S*\w\.cu\S*", "#", test.message)[-60:])):
            continue
        launch = test.pictures
        if launch and "accesses" in launch:
            launch = launch | {
                "accesses": [a for n, a in enumerate(launch["accesses"]) if (n == 0 or a["waste"]) and is_new(a["space"])][:2],
                "mappings": [m for m in launch["mappings"] if is_new(m["name"])],
                "lines": launch["lines"] if launch["lines"] and is_new("lines") else [],
            }
            for kind in ("steps", "shuffles", "traffic", "race", "fault"):
                if launch[kind] and not is_new(kind):
                    launch[kind] = None
        out.append(replace(test, pictures=launch))
    return out
