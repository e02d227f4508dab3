"""Long lists of parameters, of which `make test` takes some and `make test-slow` the others."""

import pytest


def slow_unless(values, is_fast, name=str):
    """pytest's parameters; those values for which is_first(value) is not true are slow tests."""
    return [pytest.param(*value if isinstance(value, tuple) else (value,), id=name(value),
                         marks=[] if is_fast(value) else pytest.mark.slow) for value in values]  # fmt: skip
