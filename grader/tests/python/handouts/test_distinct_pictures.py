"""What `make sheets` shows of many pictures: each look once, and of each lab and state every kind."""

import json

import sample_pictures as sample

from handouts import contact_sheets, distinct_pictures
from lab32.results import parse_result


def result(*launches):
    record = sample.result("")
    record["labs"][0]["tests"] = [sample.test(f"B{n}", pictures=launch, message=f"line {n}: see `B{n}`") for n, launch in enumerate(launches)]
    return parse_result(json.dumps(record))


def test_pictures_that_differ_only_in_numbers_are_shown_once():
    same, other = sample.launch(), sample.launch()
    for access in same["accesses"]:
        access["line"] += 100
    other["accesses"][0]["requests"][0]["cost"] -= 1
    seen = distinct_pictures.SeenPictures()
    first = [kind for _, kind, _ in seen.unseen_svg_pictures(result(sample.launch()))]
    assert sorted(k for k in first if not k.startswith("plot")) == ["access", "access", "fault", "mappings", "race", "shuffles", "steps", "traffic"]
    assert list(seen.unseen_svg_pictures(result(same))) == []
    assert [kind for _, kind, _ in seen.unseen_svg_pictures(result(other))] == ["access"]


def test_a_page_has_each_kind_once():
    thin = distinct_pictures.result_with_distinct_pictures(result(sample.launch(), sample.launch(race=None))).labs[0].tests
    # A message that differs in names and numbers alone is left out, and its check with it.
    assert [test.name for test in thin] == ["B0"]
    assert thin[0].pictures["race"] and len(thin[0].pictures["accesses"]) == 2


def test_each_lab_is_shown_in_each_look():
    looks = {
        lab: {contact_sheets.LOOKS[(k + n) % len(contact_sheets.LOOKS)] for n in range(len(contact_sheets.STATES))}
        for k, lab in enumerate(contact_sheets.LABS)
    }
    assert len(looks) > 1 and all(len(seen) == 4 for seen in looks.values())


def test_without_a_name_all_parts_are_made(tmp_path, monkeypatch, capsys):
    made = []
    for name in contact_sheets.PARTS:
        monkeypatch.setitem(contact_sheets.PARTS, name, lambda folder, scratch, name=name: made.append(name))
    monkeypatch.setattr(contact_sheets.browser, "CHROMIUM", "chromium")
    monkeypatch.setattr(contact_sheets.shutil, "which", lambda _: "there")
    assert contact_sheets.main([str(tmp_path)]) == 0
    assert made == list(contact_sheets.PARTS)
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 sheets with 0 tiles in ")
