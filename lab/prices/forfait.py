"""The package: a fixed price for one lot for a fixed number of days (the product's method, section 7; the seeds)."""

from __future__ import annotations

from lab.calcul_forfaits import MODELS, Hours, Offer, Quote, price_package


class Forfait:
    """Price x lots x periods, whole, used or not; it covers 24 h x days x periods, in a row."""

    name = "forfait"
    cells = MODELS["forfait"]

    def quote(
        self,
        offer: Offer,
        lots: int,
        periods: int,
        window_hours: Hours | None,  # noqa: ARG002  (a package commits its price whatever the window)
    ) -> Quote | None:
        """The package's budget; never None."""
        return price_package(offer, lots, periods)


FORFAIT = Forfait()
