"""How many arrangements have each value of a rank statistic: coefficients of Gaussian polynomials."""

from __future__ import annotations

from collections.abc import Iterable


def coefficients(above: Iterable[int], below: Iterable[int], degree: int) -> list[int]:
    """The first `degree` + 1 coefficients of the product of (1 - q^a) over `above`, divided by that over `below`.

    With `above` m+1 to m+n and `below` 1 to n: the ways in which n of n + m untied values can have each sum of ranks.
    With `above` 1 to n and `below` 1 to k for each group of k equal values: the orders of n values by the number of
    falling pairs (MacMahon 1913, Amer. J. Math. 35:281).
    """
    ways = [1] + [0] * degree
    for power in above:
        for place in range(degree, power - 1, -1):
            ways[place] -= ways[place - power]
    for power in below:
        for place in range(power, degree + 1):
            ways[place] += ways[place - power]
    return ways
