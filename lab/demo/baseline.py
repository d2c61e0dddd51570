"""Two yardsticks for the demo's model that need no library: the commonest label, and naive Bayes on words.

The report gives them beside the model's quality, so that nobody takes the demo for praise of a model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from lab.demo.corpus import Docstring, words


def majority_share(rows: Sequence[Docstring]) -> float:
    """The share (0 to 1) of the commonest label: the accuracy of always answering it.

    Raises:
        ValueError: `rows` is empty.
    """
    return max(Counter(row.label for row in rows).values()) / len(rows)


def naive_bayes_accuracy(tuning: Sequence[Docstring], final: Sequence[Docstring]) -> float:
    """The accuracy (0 to 1) on `final` of a multinomial naive Bayes learned on the words of `tuning`.

    Rule (Manning, Raghavan and Schütze 2008, section 13.2): log P(label) + sum over the text's words of
    log P(word | label), with one added to every count (Laplace). Words never seen in `tuning` say nothing. Ties go to
    the alphabetically first label.

    Raises:
        ValueError: `tuning` or `final` is empty.
    """
    if not tuning or not final:
        msg = "an empty set has no accuracy"
        raise ValueError(msg)
    texts = Counter(row.label for row in tuning)
    counts: dict[str, Counter[str]] = {label: Counter() for label in sorted(texts)}
    for row in tuning:
        counts[row.label].update(words(row.text))
    vocabulary = {word for counter in counts.values() for word in counter}
    totals = {label: counter.total() + len(vocabulary) for label, counter in counts.items()}

    def answer(text: str) -> str:
        known = [word for word in words(text) if word in vocabulary]
        scores = {
            label: math.log(texts[label] / len(tuning))
            + math.fsum(math.log((counter[word] + 1) / totals[label]) for word in known)
            for label, counter in counts.items()
        }
        return max(scores, key=scores.__getitem__)

    return sum(answer(row.text) == row.label for row in final) / len(final)
