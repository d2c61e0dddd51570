"""Two variants side by side, round by round, where the order was rotated (the product's method, section 6).

What drifts on a machine meets both passes of a round, so that their difference shows what the medians may hide. It is a
view beside the test and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.analysis.exact import exact, median
from lab.model.attempt import Attempt
from lab.model.decision import Paired
from lab.model.reason import reason

FEWEST = 2  # rounds; and with both orders among them, or nothing was rotated


def paired(a: Sequence[Attempt], b: Sequence[Attempt]) -> Paired | None:
    """The differences a minus b, in seconds, over the rounds in which both have a pass that counts.

    Only rounds of one environment that both share: two machines have no common moment. None when there are fewer than
    two such rounds, or when one of the two always ran before the other.
    """
    return of_rounds(by_round(a), by_round(b))


def of_rounds(a: Mapping[int, Attempt], b: Mapping[int, Attempt]) -> Paired | None:
    """`paired`, of passes that are arranged by round already: each variant meets every other one."""
    rounds = [(number, one, other) for number, one, other in _common(a, b) if _alike(one, other)]
    orders = {(one.position or 0) < (other.position or 0) for _number, one, other in rounds}
    if len(rounds) < FEWEST or len(orders) < len((True, False)):
        return None
    differences = [float(exact(one.duration_s or 0.0) - exact(other.duration_s or 0.0)) for _n, one, other in rounds]
    middle = median(differences) or 0.0
    a_faster = sum(value < 0 for value in differences)
    _, first, second = rounds[0]
    facts: dict[str, object] = {"a": first.variant, "b": second.variant, "rounds": len(rounds), "a_faster": a_faster}
    facts |= {"median_s": middle, "low_s": min(differences), "high_s": max(differences)}
    numbers = tuple(number for number, _one, _other in rounds)
    return Paired(numbers, tuple(differences), middle, a_faster, reason("paired.rounds", **facts))


def by_round(passes: Sequence[Attempt]) -> dict[int, Attempt]:
    """Round -> the pass that counts there; a round with several of one variant compares with nothing."""
    found: dict[int, list[Attempt]] = {}
    for row in passes:
        if row.round is not None and row.position is not None and row.duration_s is not None:
            found.setdefault(row.round, []).append(row)
    return {number: rows[0] for number, rows in sorted(found.items()) if len(rows) == 1}


def _common(a: Mapping[int, Attempt], b: Mapping[int, Attempt]) -> list[tuple[int, Attempt, Attempt]]:
    return [(number, row, b[number]) for number, row in a.items() if number in b]


def _alike(one: Attempt, other: Attempt) -> bool:
    return one.environment is not None and one.environment == other.environment and one.position != other.position
