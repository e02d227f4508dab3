"""The leader board: who is best, without who it is."""

import contextlib
import hashlib
import hmac
import secrets

from lab32.classroom.scores import ABSENT, total
from lab32.classroom.table import csv_text

BEST = 20
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


def secret_of(store):
    """One for OUT, so that names stay the same; without it nobody can tell whose they are."""
    path = store.state / "pseudonyms"
    with contextlib.suppress(OSError, ValueError):
        if secret := bytes.fromhex(path.read_text()):
            return secret
    secret = secrets.token_bytes(32)
    store.write(path, secret.hex())
    path.chmod(0o600)
    return secret


def word(secret, slug, attempt):
    """Six letters that can be said: 343,000 words."""
    digest = hmac.digest(secret, f"{attempt} {slug}".encode(), "sha256")
    return "".join(
        (VOWELS if i % 2 else CONSONANTS)[byte % (5 if i % 2 else 14)]
        for i, byte in enumerate(digest[:6])
    )


def pseudonyms(secret, slugs):
    """{slug: word}, each another."""
    found = {}
    for slug in sorted(slugs, key=lambda slug: hashlib.sha256(secret + slug.encode()).digest()):
        attempt = 0
        while (name := word(secret, slug, attempt)) in found.values():
            attempt += 1
        found[slug] = name
    return found


def leaderboard(rows, names):
    """[{rank, pseudonym, score}] of the best, half of the class at most: nobody is last. Those with as
    many points share a rank."""
    there = [row for row in rows if row.scored() and row.status != ABSENT]
    scores = {row.slug: total(row.final.values()) for row in there}
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
    """For the instructor, who tells each his own."""
    return csv_text(
        [["id", "name", "pseudonym"], *([r.id(), r.name(), names[r.slug]] for r in rows)]
    )
