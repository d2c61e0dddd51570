"""The WordPiece vocabulary: which pieces, and that they are always the same."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lab.workloads.vocabulary import wordpiece_vocabulary


def test_the_most_frequent_pairs_are_joined_first() -> None:
    """`ab` occurs five times and `bc` twice: `ab` is learned, then `abc`."""
    assert wordpiece_vocabulary({"ab": 3, "abc": 2}, 4) == ["##b", "##c", "a", "ab"]
    assert wordpiece_vocabulary({"ab": 3, "abc": 2}, 9) == ["##b", "##c", "a", "ab", "abc"]


def test_equals_are_joined_by_code_point() -> None:
    """Of pairs equally frequent the first by text wins, whatever the order of the words."""
    expected = ["##b", "##d", "a", "ab", "c"]
    assert wordpiece_vocabulary({"cd": 1, "ab": 1}, 5) == wordpiece_vocabulary({"ab": 1, "cd": 1}, 5) == expected


def test_an_alphabet_that_is_too_large_keeps_its_most_frequent_characters() -> None:
    """Size is a limit for the characters too."""
    assert wordpiece_vocabulary({"a": 1, "b": 3, "c": 2, "": 9}, 2) == ["b", "c"]


def slow_vocabulary(counts: dict[str, int], size: int) -> list[str]:
    """The same rule written plainly: count all pairs anew before each join."""
    words = {word: [word[0], *("##" + character for character in word[1:])] for word in counts if word}
    alphabet = Counter({piece: 0 for pieces in words.values() for piece in pieces})
    for word, pieces in words.items():
        for piece in pieces:
            alphabet[piece] += counts[word]
    learned = set(sorted(alphabet, key=lambda piece: (-alphabet[piece], piece))[:size])
    while len(learned) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs:
            break
        first, second = min(pairs, key=lambda pair: (-pairs[pair], pair))
        learned.add(first + second[2:])
        for pieces in words.values():
            at = 0
            while at + 1 < len(pieces):
                if (pieces[at], pieces[at + 1]) == (first, second):
                    pieces[at : at + 2] = [first + second[2:]]
                at += 1
    return sorted(learned)


@given(st.dictionaries(st.text("ab#é", max_size=8), st.integers(1, 5), max_size=12), st.integers(0, 40))
def test_counts_kept_up_to_date_learn_what_counting_anew_learns(counts: dict[str, int], size: int) -> None:
    """The quick bookkeeping agrees with the plain rule."""
    assert wordpiece_vocabulary(counts, size) == slow_vocabulary(counts, size)
