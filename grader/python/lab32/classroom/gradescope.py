"""Reads submission_metadata.yml, in which Gradescope's export says whose submission_12345 is, and when it came."""

from dataclasses import replace
from datetime import UTC, datetime

import yaml

from lab32.classroom import names
from lab32.classroom.problem import UserError

METADATA = "submission_metadata.yml"
METADATA_BYTES = 256 << 20


class GradescopeLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Gradescope's YAML names Ruby classes; they are read as plain data."""


def construct_ignoring_tag(loader, _, node):
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


GradescopeLoader.add_multi_constructor("!", construct_ignoring_tag)


def read_gradescope_metadata(entry):
    """{submission's number: (submitters, time)} from Gradescope's metadata."""
    data = entry.read(METADATA_BYTES + 1)
    if len(data) > METADATA_BYTES:
        raise UserError(f"{entry.printable_name()}: larger than {METADATA_BYTES >> 20} MiB")
    try:
        record = yaml.load(data, GradescopeLoader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = f":{line + 1}" if line is not None else ""
        raise UserError(f"{entry.printable_name()}{place}: this is not valid YAML; export it again") from None
    found = {}
    for name, of_one in record.items() if isinstance(record, dict) else ():
        known = names.GRADESCOPE.fullmatch(str(name))
        if not known or not isinstance(of_one, dict):
            continue
        value = {str(key).lstrip(":"): each for key, each in of_one.items()}
        people = [
            {str(key).lstrip(":"): str(each) for key, each in person.items() if isinstance(each, str | int | float)}
            for person in value.get("submitters") or ()
            if isinstance(person, dict)
        ]
        when = value.get("created_at")
        if isinstance(when, datetime):
            when = when.replace(tzinfo=when.tzinfo or UTC)
        found[known["order"]] = people, when if isinstance(when, datetime) else None
    return found


def submitters_and_time(who, metadata):
    """The submitters by student id, or the submission itself where the metadata does not list it."""
    people, when = metadata.get(who.id, ((), None))
    out = []
    for person in people:
        ids = tuple(
            (kind, names.unicode_normalised(person[key]))
            for kind, key in (("sid", "sid"), ("email", "email"))
            if person.get(key)
        )
        name = names.unicode_normalised(person.get("name") or (ids[0][1] if ids else who.name))
        kind, value = ids[0] if ids else ("name", name)
        out.append(replace(who, kind=kind, id=value, name=name, ids=ids))
    return out or [who], when
