"""The languages of the handouts. What is drawn and what heads a table is written once, in English,
where it is made; zh.toml has the same in Chinese.

    with translation.language("zh"):
        translation.translate("lane 5 in bank 3")      ->  "通道 5 在存储体 3"

A line `"lane {} in bank {}" = "..."` holds for all numbers and words in the places of {}; what stands
there is translated as well, if it has a line of its own. Code, numbers and what `same` lists are the
same in both languages. Anything else without a line is an error, so that no picture is half Chinese.
"""

import contextlib
import contextvars
import functools
import re
import tomllib
from pathlib import Path

LANGUAGES = ("en", "zh")
CATALOGUE = Path(__file__).parent / "zh.toml"

_language = contextvars.ContextVar("language", default="en")


@contextlib.contextmanager
def language(name):
    if name not in LANGUAGES:
        raise ValueError(f"unknown language `{name}`; there are: {', '.join(LANGUAGES)}")
    token = _language.set(name)
    try:
        yield
    finally:
        _language.reset(token)


def current_language():
    return _language.get()


def pattern(text):
    """A compiled line of the catalogue: {} is any text, as short as it can be."""
    return re.compile("(.+?)".join(map(re.escape, text.split("{}"))))


@functools.cache
def entries():
    """(words that stay, {English: Chinese}, [(pattern, Chinese)] with the longest first)."""
    read = tomllib.loads(CATALOGUE.read_text())
    patterns = sorted((text for text in read["words"] if "{}" in text), key=len, reverse=True)
    return (
        [pattern(text) for text in read["same"]],
        read["words"],
        [(pattern(text), read["words"][text]) for text in patterns],
    )


def has_no_words(text):
    """Without words: numbers, signs, a letter, a piece of code in quotation marks of Markdown."""
    return not re.search(r"[A-Za-z]{2}", re.sub(r"`[^`]*`", "", text))


def chinese_of(text):
    """The Chinese of `text`, or None."""
    same, whole, patterns = entries()
    if text in whole:
        return whole[text]
    if has_no_words(text) or any(kept.fullmatch(text) for kept in same):
        return text
    for expression, chinese in patterns:
        if found := expression.fullmatch(text):
            return chinese.format(*((chinese_of(part) or part) for part in found.groups()))
    return None


def translate(text):
    """`text`, which is English, in the language that is spoken."""
    if current_language() == "en":
        return text
    chinese = chinese_of(text)
    if chinese is None:
        raise LookupError(f"{CATALOGUE.name} has no line for {text!r}")
    return chinese
