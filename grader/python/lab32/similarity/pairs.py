"""Measures how similar two submissions' PTX is: the share of fingerprints that both have. A fingerprint
weighs less the more of the class have it. README.md explains how the limits were chosen."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

THRESHOLD = 0.6  # least similarity of a pair that is suggested
WEIGHT = 60.0  # least weight of the fingerprints that a suggested pair has in common
KERNEL_THRESHOLD, KERNEL_WEIGHT = 0.9, 100.0  # both limits for a pair that is similar in a single kernel
TELLING = 0.5  # least rarity of a fingerprint for its lines to be marked


@dataclass
class FingerprintOverlap:
    """What two submissions have in common, in weighted fingerprints."""

    shared: float = 0.0  # weight of the fingerprints that both have
    all: float = 0.0  # weight of the fingerprints that either has

    def weighted_jaccard_index(self):
        return self.shared / self.all if self.all else 0.0

    def __add__(self, other):
        return FingerprintOverlap(self.shared + other.shared, self.all + other.all)


@dataclass
class SubmissionPair:
    a: str
    b: str
    kernels: dict = field(default_factory=dict)  # {name: FingerprintOverlap} of kernels that both have written

    def overlap_of_all_kernels(self):
        return sum(self.kernels.values(), FingerprintOverlap())

    def is_flagged(self):
        total = self.overlap_of_all_kernels()
        return total.weighted_jaccard_index() >= THRESHOLD and total.shared >= WEIGHT


class FingerprintFrequencies:
    """Counts how many submissions of a class, {name: prints}, have each fingerprint of each kernel."""

    def __init__(self, prints):
        self.prints = prints
        self.others = len(prints) - 2  # submissions besides the two that are compared
        self.count = {}
        for one in prints.values():
            for kernel, lines in one.items():
                self.count.setdefault(kernel, Counter()).update(lines.keys())
        self.alone = {
            name: {kernel: self.weight_of_fingerprints(kernel, lines, 1) for kernel, lines in one.items()}
            for name, one in prints.items()
        }

    def weight_of_fingerprints(self, kernel, prints, having):
        """The sum of the weights of `prints`: 1 for a fingerprint that no other submission has, 0 for one that all
        have. `having` is the number of submissions of the pair that have them."""
        if self.others <= 0:
            return float(len(prints))
        elsewhere = sum(map(self.count[kernel].__getitem__, prints)) - having * len(prints)
        return len(prints) - elsewhere / self.others

    def compare_pair(self, a, b):
        out = SubmissionPair(a, b)
        first, second = self.prints[a], self.prints[b]
        for kernel in sorted(first.keys() & second.keys()):
            both = first[kernel].keys() & second[kernel].keys()
            shared = self.weight_of_fingerprints(kernel, both, 2)
            alone = self.alone[a][kernel] + self.alone[b][kernel]
            alone -= 2 * self.weight_of_fingerprints(kernel, both, 1)
            out.kernels[kernel] = FingerprintOverlap(shared, shared + max(alone, 0.0))
        return out

    def compare_all_pairs(self):
        """A SubmissionPair for every two submissions, the most similar two first."""
        every = [self.compare_pair(a, b) for a, b in combinations(sorted(self.prints), 2)]
        return sorted(every, key=lambda pair: (-pair.overlap_of_all_kernels().weighted_jaccard_index(), pair.a, pair.b))

    def agreeing_pair_counts_by_kernel(self):
        """{kernel: (number of pairs in which both have written it, number of those that agree in it)}, by similarity
        alone. If many pairs agree in a kernel, agreement in it is no evidence."""
        out = {}
        for a, b in combinations(sorted(self.prints), 2):
            first, second = self.prints[a], self.prints[b]
            for kernel in first.keys() & second.keys():
                one, other = first[kernel].keys(), second[kernel].keys()
                same = len(one & other) >= THRESHOLD * len(one | other)
                both, agree = out.get(kernel, (0, 0))
                out[kernel] = both + 1, agree + same
        return dict(sorted(out.items()))

    def matched_lines(self, pair):
        """({kernel: lines of a}, {kernel: lines of b}): the lines that the rare fingerprints come from."""
        out = ({}, {})
        for kernel in pair.kernels:
            first, second = self.prints[pair.a][kernel], self.prints[pair.b][kernel]
            for print_ in first.keys() & second.keys():
                if self.weight_of_fingerprints(kernel, (print_,), 2) >= TELLING:
                    for found, lines in zip(out, (first[print_], second[print_])):
                        found.setdefault(kernel, set()).update(lines)
        return out


def submission_clusters(pairs):
    """The connected components of the pairs [(a, b)] as lists of names, the largest first."""
    leader = {}

    def find_similarity_cluster_root(name):
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for a, b in pairs:
        leader[find_similarity_cluster_root(a)] = find_similarity_cluster_root(b)
    groups = {}
    for name in sorted(leader):
        groups.setdefault(find_similarity_cluster_root(name), []).append(name)
    return sorted(groups.values(), key=lambda names: (-len(names), names))


def pairs_similar_in_one_kernel(every, but):
    """[(a, b, kernel, FingerprintOverlap)] of pairs that are similar in a kernel with room to differ, except those in `but`."""
    found = [
        (pair.a, pair.b, kernel, alike)
        for pair in every if (pair.a, pair.b) not in but
        for kernel, alike in pair.kernels.items()
        if alike.shared >= KERNEL_WEIGHT and alike.weighted_jaccard_index() >= KERNEL_THRESHOLD
    ]  # fmt: skip
    return sorted(found, key=lambda row: (-row[3].shared, row[:3]))
