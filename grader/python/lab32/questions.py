"""`lab32 ask` in a notebook and in the report page: questions about the student's own code."""

import json
import re
import subprocess
from html import escape
from types import SimpleNamespace

from lab32.pictures import draw_picture, draw_request_of_access, picture_kinds
from lab32.results import BINARY


def run_ask(lab, *options, binary=BINARY):
    """Runs `lab32 ask`. Raises ValueError with its reason if it cannot ask."""
    command = [str(binary), "ask", lab, *options]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise ValueError((done.stderr.strip().splitlines() or ["lab32 ask failed"])[-1].removeprefix("lab32: "))
    return done.stdout


def fetch_questions_and_reason(lab, *options, binary=BINARY):
    """The questions about the lab's file, and the reason if there are none."""
    record = json.loads(run_ask(lab, "--format", "json", *options, binary=binary))
    return [SimpleNamespace(**question) for question in record["questions"]], record["why_none"]


def hashed_answer(question, answer):
    """The name under which `lab32 ask` stores an answer: FNV-1a of KEY:ANSWER (grader/base/random.h)."""
    value = 0xCBF29CE484222325
    for byte in f"{question.key}:{answer}".encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def feedback_text(question, answer):
    """The sentences that a student reads after an answer."""
    name = hashed_answer(question, answer)
    if name == question.answer:
        return "Right."
    what = f"option {answer}" if question.options else answer
    return " ".join(filter(None, [f"It is not {what}.", question.misconceptions.get(name), question.reason]))


def pictures_of_answer(question):
    """The pictures of the answer, as `lab32 explain` draws them: of each access, or of the shuffles or the race."""
    kinds = picture_kinds(question.picture)
    if kinds[:1] == ["access"]:
        return [draw_request_of_access(access, access["worst"]) for access in question.picture["accesses"]]
    return [draw_picture(question.picture)] if kinds else []


def question_html(question):
    """The launch, the line of source and the question, without its options."""
    source = f"<p>Line {question.line}: <code>{escape(question.source)}</code></p>" if question.line else ""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(question.text))
    return f"<p><code>{escape(question.launch)}</code></p>{source}<p>{text}</p>"


class AskedQuestions:
    """Shows questions in a notebook; after answers, also what is wrong with them, and pictures."""

    def __init__(self, lab, questions, answers=(), why_none=""):
        self.lab, self.questions, self.answers, self.why_none = lab, questions, answers, why_none

    def _repr_html_(self):
        out = [f"<p>No questions: {escape(self.why_none)}.</p>"] if not self.questions else []
        for n, question in enumerate(self.questions):
            items = "".join(f"<li>{escape(option)}</li>" for option in question.options)
            out += [f"<h4>Question {n + 1}</h4>", question_html(question), items and f"<ol>{items}</ol>"]
            if n < len(self.answers):
                drawings = "".join(map(str, pictures_of_answer(question)))
                out += [f"<p><b>{escape(feedback_text(question, self.answers[n]))}</b></p>"]
                out += [f"<div style='background: white; max-width: 60em'>{drawings}</div>"]
        if self.questions and not self.answers:
            words = " ".join(f"--answer N{n + 1}" for n in range(len(self.questions)))
            out.append(f"<p>Answer with <code>%lab32 ask {escape(self.lab)} {words}</code></p>")
        return "".join(out)

    def _repr_pretty_(self, printer, cycle):
        lines = [f"No questions: {self.why_none}."] if not self.questions else []
        for n, question in enumerate(self.questions):
            lines.append(f"Question {n + 1}: {question.launch}")
            lines += [f"Line {question.line}: {question.source}"] if question.line else []
            lines.append(question.text)
            lines += [f"    {k + 1}  {option}" for k, option in enumerate(question.options)]
            if n < len(self.answers):
                lines.append(feedback_text(question, self.answers[n]))
        printer.text("\n".join(lines))


def ask_questions(lab, options):
    """The questions, judged if `options` has --answer; `lab32 ask` then records the answers, too."""
    answers = [options[k + 1] for k, word in enumerate(options[:-1]) if word == "--answer"]
    others = [word for k, word in enumerate(options) if "--answer" not in (word, options[k - 1] if k else "")]
    questions, why_none = fetch_questions_and_reason(lab, *others)
    if answers:
        run_ask(lab, *options)
    return AskedQuestions(lab, questions, answers, why_none)
