"""What `make test` takes of a long list, and what it leaves to `make test-rest`."""

import pytest


def in_parts(values, is_first, name=str):
    """pytest's parameters: those values for which is_first(value) is not true are of the rest."""
    return [pytest.param(*value if isinstance(value, tuple) else (value,), id=name(value),
                         marks=[] if is_first(value) else pytest.mark.rest) for value in values]  # fmt: skip
