"""Draws what `lab32 explain` and `lab32 grade --pictures` have seen (grader/pictures/README.md)."""

from lab32.pictures.access import draw_access
from lab32.pictures.chart import draw_traffic
from lab32.pictures.mapping import draw_mappings
from lab32.pictures.order import draw_fault, draw_race
from lab32.pictures.shuffles import draw_shuffles
from lab32.pictures.steps import draw_steps

# In the order in which one is chosen where nobody has named it.
KINDS = ("fault", "race", "access", "shuffles", "steps", "mappings", "traffic")


def kinds(launch):
    """Which pictures there are of a launch."""
    return [
        kind
        for kind in KINDS
        if (launch["accesses"] if kind == "access" else launch[kind])
        and (kind != "fault" or launch["fault"]["object"])
    ]


# What such a check is about is seen in the steps, and not in one access.
OF_STEPS = ("divergence", "idle lanes", "barriers")


def leading(launch, check=""):
    """Which picture shows what the check is about; None: there is none."""
    there = kinds(launch)
    if "steps" in there and there[0] == "access" and check.endswith(OF_STEPS):
        return "steps"
    return there[0] if there else None


def draw(launch, kind=None, request=None, check=""):
    """One picture, as a Drawing. Of an access the worst request of the first line, or `request`."""
    there = kinds(launch)
    kind = kind or leading(launch, check)
    if kind not in there:
        raise ValueError(f"there is no such picture here; there are: {', '.join(there) or 'none'}")
    if kind == "access":
        access = launch["accesses"][0]
        return draw_access(access, access["worst"] if request is None else request)
    if kind == "traffic":
        return draw_traffic(launch["traffic"], launch["reference"])
    make = {
        "fault": draw_fault,
        "race": draw_race,
        "shuffles": draw_shuffles,
        "steps": draw_steps,
        "mappings": draw_mappings,
    }[kind]
    return make(launch[kind])
