"""Questions about the student's own code in the report page and in a notebook: the form, the feedback and the pictures."""

import json
import shutil
from datetime import datetime
from types import SimpleNamespace

import browser
import devtools
import pytest
import sample_pictures as sample

from lab32 import ROOT, questions
from lab32.report import page
from lab32.results import parse_result


def question(answer, options=(), wrong=(), **picture):
    asked = SimpleNamespace(
        key=f"k{answer}", launch="scale(in, out, 1000), 4 blocks of 256 threads", line=52, source="out[i] = a * in[i];",
        text="How many sectors does the store of `out` by warp 3 of block 2 touch?", options=list(options),
        reason="Which bytes do the active lanes access?", picture=sample.launch(race=None, fault=None) | picture,
    )  # fmt: skip
    asked.answer = questions.hashed_answer(asked, answer)
    asked.misconceptions = {questions.hashed_answer(asked, n): words for n, words in wrong}
    return asked


ASKED = [
    question(8, wrong=[(32, "That is one sector for each active lane.")]),
    question(2, options=["line 52: out[i] = a * in[i];", "line 53: <b>in</b>"], wrong=[(1, "On line 52 the lanes touch fewer sectors.")]),
]


def report(folder):
    file = folder / "report.html"
    record = parse_result(json.dumps(sample.result("")))
    html = page.report_page(record, [], datetime(2026, 1, 1), questions={record.labs[0].name: ASKED}, student="ann")
    file.write_text(html)
    return file


def test_the_page_hides_answers_and_pictures_until_they_are_asked_for(tmp_path):
    html = report(tmp_path).read_text()
    assert html.count('<form class="question"') == 2
    assert "one sector for each active lane" not in html and "Which bytes do the active lanes" not in html
    assert "line 53: &lt;b&gt;in&lt;/b&gt;" in html
    assert "ask coalescing --id ann</code>" in html or "--id ann</code> asks the same questions" in html


def test_feedback_names_the_misconception():
    assert questions.feedback_text(ASKED[0], 8) == "Right."
    assert questions.feedback_text(ASKED[0], 32).startswith("It is not 32. That is one sector for each active lane. Which")
    assert questions.feedback_text(ASKED[0], 5) == "It is not 5. Which bytes do the active lanes access?"
    assert questions.feedback_text(ASKED[1], 1).startswith("It is not option 1. On line 52")
    assert len(questions.pictures_of_answer(ASKED[0])) == len(ASKED[0].picture["accesses"])


def test_a_question_without_a_line_names_none():
    asked = questions.AskedQuestions("coalescing", [question(8), SimpleNamespace(**vars(question(2)) | {"line": 0, "source": ""})])
    printed = []
    asked._repr_pretty_(SimpleNamespace(text=printed.append), False)
    assert printed[0].count("\nLine 52: ") == 1 and "Line 0" not in printed[0]


@pytest.mark.slow
def test_the_form_reveals_the_picture_after_the_answer(tmp_path):
    with devtools.page(f"file://{report(tmp_path)}", tmp_path) as shown:
        answered = """
            (async () => {
                const form = document.querySelectorAll("form.question")[%d];
                %s
                form.querySelector("button").click();
                await new Promise((done) => setTimeout(done, 300));
                return [form.querySelector("output").textContent, form.querySelectorAll(".revealed svg").length];
            })()"""
        fill = 'form.querySelector("input").value = "%d";'
        words, drawings = shown.run(answered % (0, fill % 32))
        assert words.startswith("It is not 32. That is one sector for each active lane.")
        assert drawings == len(ASKED[0].picture["accesses"])
        assert shown.run(answered % (0, fill % 8))[0] == "Right."
        choose = 'form.querySelectorAll("[type=radio]")[%d].checked = true;'
        assert shown.run(answered % (1, choose % 0))[0].startswith("It is not option 1. On line 52")
        assert shown.run(answered % (1, choose % 1))[0] == "Right."


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)])
def test_the_form_has_no_layout_faults(tmp_path, width, dark):
    found = browser.probe(report(tmp_path), tmp_path, width, dark)
    assert found["wrong"] == [] and found["console"] == []


@pytest.mark.slow
def test_a_notebook_judges_answers_as_the_terminal_does(tmp_path):
    shutil.copytree(ROOT / "solutions/histogram", tmp_path / "histogram")
    options = ["--dir", str(tmp_path), "--id", "anna"]
    asked = questions.ask_questions("histogram", options)
    count = len(asked.questions)
    assert count >= 2 and f"--answer N{count}" in asked._repr_html_()
    answers = [next(n for n in range(100_000) if questions.hashed_answer(q, n) == q.answer) for q in asked.questions]
    given = [word for answer in answers for word in ("--answer", str(answer))]
    judged = questions.ask_questions("histogram", options + given)._repr_html_()
    assert judged.count("<b>Right.</b>") == count and judged.count("<svg") >= 1
    assert (tmp_path / "histogram/answers.toml").is_file()
    assert f"{count} of {count} right" in questions.run_ask("histogram", *options, *given)
