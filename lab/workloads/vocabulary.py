"""A WordPiece vocabulary learned the same way everywhere.

The trainer of the tokenizers library breaks ties between equally frequent pairs at random, so that two runs on one
machine already differ; a model trained on its vocabulary could not be made again. This one is pure Python, learns by
the same rule (byte-pair merges over words, continuations written `##`) and breaks ties by text.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise

CONTINUATION = "##"

_Pair = tuple[str, str]


def wordpiece_vocabulary(counts: Mapping[str, int], size: int) -> list[str]:
    """Learn at most `size` pieces from words and how often each occurs.

    Rule (byte-pair encoding, Sennrich et al. 2016, arXiv 1508.07909): start from the single characters, then join the
    most frequent neighbouring pair (of equals the first by code point) until `size` pieces are there or none is left.

    Args:
        counts: word -> number of occurrences, at least 1; an empty word is left out.
        size: pieces wanted; of an alphabet that is larger the most frequent `size` characters stay.

    Returns:
        The pieces, sorted by code point; a piece that continues a word begins with `##`.
    """
    pairs = _Pairs(counts)
    learned = set(pairs.alphabet()[:size])
    while len(learned) < size and (pair := pairs.most_frequent()):
        learned.add(pairs.join(pair))
    return sorted(learned)


class _Pairs:
    """The words as pieces, and of each neighbouring pair its count and the words that hold it, kept up to date."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._words = [_characters(word) for word in sorted(counts) if word]
        self._times = [counts[word] for word in sorted(counts) if word]
        self._counts: Counter[_Pair] = Counter()
        self._holders: defaultdict[_Pair, set[int]] = defaultdict(set)
        for index in range(len(self._words)):
            self._count(index)
        # An entry of the heap is believed only when it agrees with the count: older ones are left in it.
        self._heap = [(-count, pair) for pair, count in self._counts.items()]
        heapq.heapify(self._heap)

    def alphabet(self) -> list[str]:
        """The pieces as they stand, the most frequent first, equals by code point."""
        counts: Counter[str] = Counter()
        for pieces, times in zip(self._words, self._times, strict=True):
            for piece in pieces:
                counts[piece] += times
        return sorted(counts, key=lambda piece: (-counts[piece], piece))

    def most_frequent(self) -> _Pair | None:
        """The most frequent pair, None when every word is one piece."""
        while self._heap:
            negative, pair = heapq.heappop(self._heap)
            if negative and self._counts[pair] == -negative:
                return pair
        return None

    def join(self, pair: _Pair) -> str:
        """Make `pair` one piece in every word, and return that piece."""
        joined = pair[0] + pair[1].removeprefix(CONTINUATION)
        touched: set[_Pair] = set()
        for index in self._holders.pop(pair):
            old = self._words[index]
            for one in pairwise(old):
                self._counts[one] -= self._times[index]
            self._words[index] = _joined(old, pair, joined)
            self._count(index)
            touched.update(pairwise(old), pairwise(self._words[index]))
        for one in touched:
            heapq.heappush(self._heap, (-self._counts[one], one))
        return joined

    def _count(self, index: int) -> None:
        for one in pairwise(self._words[index]):
            self._counts[one] += self._times[index]
            self._holders[one].add(index)


def _characters(word: str) -> list[str]:
    return [word[0], *(CONTINUATION + character for character in word[1:])]


def _joined(pieces: list[str], pair: _Pair, joined: str) -> list[str]:
    merged: list[str] = []
    index = 0
    while index < len(pieces):
        if tuple(pieces[index : index + 2]) == pair:
            merged.append(joined)
            index += 2
        else:
            merged.append(pieces[index])
            index += 1
    return merged
