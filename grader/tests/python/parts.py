"""Long lists of parameters, of which `make test` takes some and `make test-slow` the others."""

import pytest


def in_parts(values, is_first, name=str):
    """pytest's parameters; those values for which is_first(value) is not true are slow tests."""
    return [pytest.param(*value if isinstance(value, tuple) else (value,), id=name(value),
                         marks=[] if is_first(value) else pytest.mark.slow) for value in values]  # fmt: skip
