"""Runs compare50 in its own environment, where lab32 is not installed. It reads a request from standard
input and writes pairs to standard output, both as JSON. tokens.py starts it."""

import contextlib
import json
import sys
from bisect import bisect_right
from pathlib import Path

from compare50 import Score, Submission, passes
from compare50._api import missing_spans, rank
from compare50._data import Preprocessor

WAY = passes.structure


def can_tokenize(submission):
    """Whether compare50 can split the text into tokens. compare50 itself would end at the first file for which it
    cannot."""
    try:
        return all(file.tokens() for file in submission)
    except Exception:
        return False


def merge_spans(spans):
    """The spans as [(start, end)], with overlapping ones merged."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def subtract_spans(spans, holes):
    out = []
    for start, end in spans:
        for low, high in holes:
            if low < end and high > start:
                if low > start:
                    out.append((start, low))
                start = max(start, high)
        if start < end:
            out.append((start, end))
    return out


def total_span_length(spans):
    return sum(end - start for start, end in spans)


def matched_share_length_and_lines(text, matched, ignored):
    """(matched share of the text without ignored parts, number of matched characters, matched lines)"""
    ignored = merge_spans(ignored)
    matched = subtract_spans(merge_spans(matched), ignored)
    rest = total_span_length(subtract_spans([(0, len(text))], ignored))
    starts = [0] + [at + 1 for at, c in enumerate(text) if c == "\n"]
    lines = set()
    for start, end in matched:
        if text[start:end].strip():
            lines.update(range(bisect_right(starts, start), bisect_right(starts, end - 1) + 1))
    return (total_span_length(matched) / rest if rest else 0.0), total_span_length(matched), sorted(lines)


def main():
    request = json.load(sys.stdin)
    whole = Preprocessor(WAY.preprocessors)

    def compare50_submission_of(name):
        return Submission(Path(request["folder"], name), [request["file"]], preprocessor=whole)

    submissions = [compare50_submission_of(str(at)) for at in range(request["count"])]
    given = compare50_submission_of("given")
    number = {one.id: at for at, one in enumerate(submissions)}
    unread = [at for at, one in enumerate(submissions) if not can_tokenize(one)]
    read = [one for at, one in enumerate(submissions) if at not in set(unread)]
    out = []
    with contextlib.redirect_stdout(sys.stderr):
        ignored = set(given.files)
        ranked = rank(read, [], ignored, WAY, n=len(read) ** 2) if len(read) > 1 else []
        asked = {frozenset(pair) for pair in request["asked"]}
        chosen, left = [], set(asked)
        for at, score in enumerate(ranked):
            members = frozenset((number[score.sub_a.id], number[score.sub_b.id]))
            if at < request["most"] or members in asked:
                chosen.append(score)
                left.discard(members)
        for members in left:  # compare50 found nothing in common
            if not members & set(unread):
                chosen.append(Score(*(submissions[at] for at in sorted(members)), 0))
        for found in WAY.comparator.compare(chosen, ignored):
            pair = {"members": [], "shares": [], "lines": [], "characters": 0}
            for each in (found.sub_a, found.sub_b):
                (file,) = each.files
                matched = [
                    (span.start, span.end)
                    for match in found.span_matches for span in match if span.file == file
                ]  # fmt: skip
                ignore = [
                    (span.start, span.end) for span in found.ignored_spans if span.file == file
                ]
                ignore += [(span.start, span.end) for span in missing_spans(file)]
                share, characters, lines = matched_share_length_and_lines(file.read(), matched, ignore)
                pair["members"].append(number[each.id])
                pair["shares"].append(share)
                pair["lines"].append(lines)
                pair["characters"] += characters
            out.append(pair)
    for pair, score in zip(out, chosen):
        pair["score"] = score.score
    json.dump({"pairs": out, "unread": unread}, sys.stdout)


main()
