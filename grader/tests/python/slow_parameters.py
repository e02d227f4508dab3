"""Marks most values of long parameter lists as slow tests."""

import pytest


def slow_unless(values, is_fast, name=str):
    """pytest's parameters; values for which is_fast(value) is false are slow tests."""
    return [pytest.param(*value if isinstance(value, tuple) else (value,), id=name(value),
                         marks=[] if is_fast(value) else pytest.mark.slow) for value in values]  # fmt: skip
