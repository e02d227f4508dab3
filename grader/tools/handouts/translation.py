"""Translates the words in figures and in heads of tables, which the code has in English; zh.toml has the
Chinese.

    with translation.using_language("zh"):
        translation.translate("lane 5 in bank 3")      ->  "通道 5 在存储体 3"

In a line `"lane {} in bank {}" = "..."`, {} matches any number or words, which are translated too if they have
a line of their own. Code, numbers and the entries of `same` are the same in both languages. A missing
translation is an error, so that no picture is half Chinese.
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
def using_language(name):
    if name not in LANGUAGES:
        raise ValueError(f"unknown language `{name}`; there are: {', '.join(LANGUAGES)}")
    token = _language.set(name)
    try:
        yield
    finally:
        _language.reset(token)


def current_handout_language():
    return _language.get()


def translation_key_pattern(text):
    """Compiles a key of zh.toml; {} matches any text, as short as possible."""
    return re.compile("(.+?)".join(map(re.escape, text.split("{}"))))


@functools.cache
def translation_entries():
    """(patterns of untranslated text, {English: Chinese}, [(pattern, Chinese)] with the longest first)."""
    read = tomllib.loads(CATALOGUE.read_text())
    patterns = sorted((text for text in read["words"] if "{}" in text), key=len, reverse=True)
    return (
        [translation_key_pattern(text) for text in read["same"]],
        read["words"],
        [(translation_key_pattern(text), read["words"][text]) for text in patterns],
    )


def has_no_words(text):
    """Whether the text has numbers, signs, a single letter or code between backticks only."""
    return not re.search(r"[A-Za-z]{2}", re.sub(r"`[^`]*`", "", text))


def chinese_of(text):
    """The Chinese translation of `text`, or None."""
    same, whole, patterns = translation_entries()
    if text in whole:
        return whole[text]
    if has_no_words(text) or any(kept.fullmatch(text) for kept in same):
        return text
    for expression, chinese in patterns:
        if found := expression.fullmatch(text):
            return chinese.format(*((chinese_of(part) or part) for part in found.groups()))
    return None


def translate(text):
    """Translates English `text` to the current language."""
    if current_handout_language() == "en":
        return text
    chinese = chinese_of(text)
    if chinese is None:
        raise LookupError(f"{CATALOGUE.name} has no translation of {text!r}")
    return chinese
