"""Draws what `lab32 explain` and `lab32 grade --pictures` recorded (schema: grader/pictures/README.md)."""

from lab32.pictures.access import draw_request_of_access
from lab32.pictures.chart import draw_traffic
from lab32.pictures.mapping import draw_swizzle_mapping
from lab32.pictures.order import draw_faulty_access, draw_race
from lab32.pictures.shuffles import draw_shuffles
from lab32.pictures.steps import draw_working_lanes_by_step

# If the caller names no kind, the first of these that the launch has is drawn.
KINDS = ("fault", "race", "access", "shuffles", "steps", "mappings", "traffic")


def picture_kinds(launch):
    """The kinds of pictures for which the launch has data."""
    return [
        kind
        for kind in KINDS
        if (launch["accesses"] if kind == "access" else launch[kind])
        and (kind != "fault" or launch["fault"]["object"])
    ]


# A check with one of these words in its name is explained by the steps rather than by one access.
OF_STEPS = ("divergence", "idle lanes", "barriers")


def best_picture_kind(launch, check=""):
    """The kind of picture that explains the check best; None if the launch has no data for any."""
    there = picture_kinds(launch)
    if "steps" in there and there[0] == "access" and check.endswith(OF_STEPS):
        return "steps"
    return there[0] if there else None


def draw_picture(launch, kind=None, request=None, check=""):
    """One picture, as a Canvas. An access is drawn by the worst request of its first line, or by `request`."""
    there = picture_kinds(launch)
    kind = kind or best_picture_kind(launch, check)
    if kind not in there:
        raise ValueError(f"this launch has no such picture; it has: {', '.join(there) or 'none'}")
    if kind == "access":
        access = launch["accesses"][0]
        return draw_request_of_access(access, access["worst"] if request is None else request)
    if kind == "traffic":
        return draw_traffic(launch["traffic"], launch["reference"])
    make = {
        "fault": draw_faulty_access,
        "race": draw_race,
        "shuffles": draw_shuffles,
        "steps": draw_working_lanes_by_step,
        "mappings": draw_swizzle_mapping,
    }[kind]
    return make(launch[kind])
