"""The generator of mutants, and whether the entries of explained.toml match today's solutions."""

import pytest

from lab32 import ROOT
from mutants import mutants

SOURCE = """\
#include "x.h"
template <unsigned kThreads>
__global__ void add(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // i < n
  if (i < n) out[i] = in[i] + 1;
  __syncthreads();
}
"""


def test_each_mutant_changes_one_line_in_one_place():
    made = list(mutants.mutants_of("lab", SOURCE))
    assert len({(m.line, m.new) for m in made}) == len(made)
    for mutant in made:
        before, after = SOURCE.splitlines(), mutant.mutated_source(SOURCE).splitlines()
        assert [i for i in range(len(before)) if before[i] != after[i]] == [mutant.line - 1]


def test_all_kinds_of_mutants_are_made():
    new = {m.new.strip() for m in mutants.mutants_of("lab", SOURCE)}
    assert "if (i <= n) out[i] = in[i] + 1;" in new
    assert "if (i < n) out[i] = in[i] - 1;" in new
    assert "if (true) out[i] = in[i] + 1;" in new
    assert "signed char i = blockIdx.x * blockDim.x + threadIdx.x;  // i < n" in new
    assert ";" in new  # without its barrier
    # Comments, signatures and includes are not mutated.
    assert all(m.line >= 4 for m in mutants.mutants_of("lab", SOURCE))
    assert not any("i <= n" in line and "blockIdx" in line for line in new)


def test_given_kernels_are_not_mutated():
    assert not list(mutants.code_lines(SOURCE, {"add"}))
    assert "weigh_plain" in mutants.given_kernels("swizzle")


def test_a_seed_draws_the_same_mutants_of_all_kinds():
    every = list(mutants.mutants_of("lab", SOURCE))
    assert mutants.sample_by_kind(every, 8, 1) == mutants.sample_by_kind(every, 8, 1)
    kinds = {m.kind for m in every}
    assert {m.kind for m in mutants.sample_by_kind(every, len(kinds), 1)} == kinds


@pytest.mark.parametrize("lab", mutants.LABS)
def test_a_lab_has_more_than_sixty_mutants(lab):
    source = (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
    assert len(list(mutants.mutants_of(lab, source))) > 60


def test_every_explained_mutant_exists():
    keys = set()
    for lab in mutants.LABS:
        source = (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
        keys |= {m.key() for m in mutants.mutants_of(lab, source)}
    gone = [key for key in mutants.explained_mutants() if key not in keys]
    assert not gone, "explained.toml names what no solution holds any more"
    assert all(why.endswith(".") for why in mutants.explained_mutants().values())
