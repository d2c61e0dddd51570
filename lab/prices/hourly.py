"""Rental by the hour: the window rounded up to the increment, at least the minimum (section 7 of the method)."""

from __future__ import annotations

from lab.calcul_forfaits import MODELS, Hours, Offer, Quote, price_hourly


class Hourly:
    """Billed hours x price x lots, in cents; what is billed is what it covers. Periods do not apply."""

    name = "hourly"
    cells = MODELS["hourly"]

    def quote(
        self,
        offer: Offer,
        lots: int,
        periods: int,  # noqa: ARG002  (only packages have periods)
        window_hours: Hours | None,
    ) -> Quote | None:
        """The budget of the window; None when the window is not known."""
        return None if window_hours is None else price_hourly(offer, window_hours, lots)


HOURLY = Hourly()
