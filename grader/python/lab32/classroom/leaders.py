"""The leader board: the best scores of a class under pseudonyms."""

import contextlib
import hashlib
import hmac
import secrets

from lab32.classroom.scores import ABSENT, NOT_READABLE, sum_of_points
from lab32.classroom.table import csv_text

BEST = 20
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


def read_pseudonym_secret(store):
    """The secret in OUT from which pseudonyms are computed. It keeps them stable, and only its owner can compute them."""
    path = store.state / "pseudonyms"
    with contextlib.suppress(OSError, ValueError):
        if secret := bytes.fromhex(path.read_text()):
            return secret
    secret = secrets.token_bytes(32)
    store.write_file(path, secret.hex())
    path.chmod(0o600)
    return secret


def pronounceable_word(secret, slug, attempt):
    """A pseudonym: a pronounceable word of six letters, one of 343,000."""
    digest = hmac.digest(secret, f"{attempt} {slug}".encode(), "sha256")
    return "".join(
        (VOWELS if i % 2 else CONSONANTS)[byte % (5 if i % 2 else 14)]
        for i, byte in enumerate(digest[:6])
    )


def pseudonyms(secret, slugs):
    """{slug: word}, all words different."""
    found = {}
    for slug in sorted(slugs, key=lambda slug: hashlib.sha256(secret + slug.encode()).digest()):
        attempt = 0
        while (name := pronounceable_word(secret, slug, attempt)) in found.values():
            attempt += 1
        found[slug] = name
    return found


def best_half_by_points(rows, names):
    """[{rank, pseudonym, score}] of the best, at most half of the class, so that no student is shown as the
    last. Equal scores share a rank."""
    there = [row for row in rows if row.has_points() and row.status not in (ABSENT, NOT_READABLE)]
    scores = {row.slug: sum_of_points(row.final.values()) for row in there}
    best = sorted(there, key=lambda row: (-scores[row.slug], names[row.slug]))[
        : min(BEST, (len(there) + 1) // 2)
    ]
    return [
        {
            "rank": 1 + sum(other > scores[row.slug] for other in scores.values()),
            "pseudonym": names[row.slug],
            "score": scores[row.slug],
        }
        for row in best
    ]


def pseudonyms_csv(rows, names):
    """A CSV of students and pseudonyms for the instructor, who tells each student only their own."""
    return csv_text(
        [["id", "name", "pseudonym"], *([r.primary_id(), r.display_name(), names[r.slug]] for r in rows)]
    )
