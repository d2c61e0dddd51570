"""What a price model is, so that each has its own file and all are used alike."""

from __future__ import annotations

from typing import Protocol

from lab.calcul_forfaits import Hours, Offer, Quote


class PriceModel(Protocol):
    """One way to sell a lot; `name` is what the column `model` of a catalogue holds.

    `cells` are the columns among `days`, `increment_minutes` and `minimum_hours` that this model has; the others have
    to be empty.
    """

    @property
    def name(self) -> str:
        """The word of the column `model`."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of this model."""

    def quote(self, offer: Offer, lots: int, periods: int, window_hours: Hours | None) -> Quote | None:
        """What `lots` lots commit, in the offer's currency; None when the model needs the window and it is not known.

        Raises:
            ValueError: lots, periods or the window are not above 0.
        """
