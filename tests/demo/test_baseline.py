"""The two yardsticks beside the demo's model."""

from __future__ import annotations

import pytest

from lab.demo.baseline import majority_share, naive_bayes_accuracy
from lab.demo.corpus import Docstring


def rows(*pairs: tuple[str, str]) -> list[Docstring]:
    """Rows of (text, label)."""
    return [Docstring(str(n), text, label) for n, (text, label) in enumerate(pairs)]


def test_majority_share_is_that_of_the_commonest_label() -> None:
    """Two of three is two thirds."""
    assert majority_share(rows(("a", "x"), ("b", "y"), ("c", "x"))) == pytest.approx(2 / 3)


def test_naive_bayes_follows_the_textbook_example() -> None:
    """The worked example of Manning et al., 13.2: the text goes to `c`, its odds are about 3 to 1.35."""
    training = rows(
        ("Chinese Beijing Chinese", "c"),
        ("Chinese Chinese Shanghai", "c"),
        ("Chinese Macao", "c"),
        ("Tokyo Japan Chinese", "j"),
    )
    text = "Chinese Chinese Chinese Tokyo Japan"
    assert naive_bayes_accuracy(training, rows((text, "c"), (text, "j"))) == 0.5
    assert naive_bayes_accuracy(training, rows((text, "c"))) == 1
    assert naive_bayes_accuracy(training, rows(("Tokyo Japan", "j"))) == 1


def test_words_never_seen_leave_the_commonest_label() -> None:
    """A text of unknown words is decided by the labels alone, ties by name."""
    assert naive_bayes_accuracy(rows(("a", "x"), ("b", "y"), ("c", "y")), rows(("zz zz", "y"))) == 1
    assert naive_bayes_accuracy(rows(("a", "y"), ("b", "x")), rows(("zz", "x"))) == 1


def test_an_empty_set_has_no_accuracy() -> None:
    """Nothing measured is an error, not a 0."""
    with pytest.raises(ValueError, match="empty"):
        naive_bayes_accuracy([], rows(("a", "x")))
    with pytest.raises(ValueError, match="empty"):
        naive_bayes_accuracy(rows(("a", "x")), [])
    with pytest.raises(ValueError, match="empty"):
        majority_share([])
