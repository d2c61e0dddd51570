"""The commands asked before renting: they need no campaign."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab import rentals
from lab.commands.base import command
from lab.screen import answers
from lab.screen.answers import Shown

if TYPE_CHECKING:
    from lab.store.catalogue import CatalogueFiles

CatalogueOption = Annotated[
    list[Path] | None, typer.Option(help="cli.price.catalogue", metavar="CSV", show_default=False)
]
SpotOption = Annotated[bool, typer.Option("--spot", help="cli.price.spot")]
IncrementOption = Annotated[int, typer.Option(help="cli.price.increment", min=1, max=999999)]


@command("price")
def price(
    gpu: Annotated[str, typer.Option(help="cli.price.gpu", show_default=False)],
    *,
    days: Annotated[int | None, typer.Option(help="cli.price.days", show_default=False)] = None,
    lots: Annotated[int, typer.Option(help="cli.price.lots")] = 1,
    periods: Annotated[int, typer.Option(help="cli.price.periods")] = 1,
    window: Annotated[str | None, typer.Option(help="cli.price.window", show_default=False)] = None,
    accepted_results: Annotated[int | None, typer.Option(help="cli.price.accepted", show_default=False)] = None,
    catalogue: CatalogueOption = None,
    spot: SpotOption = False,
    increment_minutes: IncrementOption = 60,
) -> Shown:
    """Say what a package commits."""
    files = _catalogues(catalogue, spot, increment_minutes)
    return answers.priced(
        *rentals.price(gpu, days, lots, periods=periods, window=window, accepted=accepted_results, files=files)
    )


@command("window")
def window(
    *,
    start: Annotated[str | None, typer.Option(help="cli.window.start", show_default=False)] = None,
    end: Annotated[str | None, typer.Option(help="cli.window.end", show_default=False)] = None,
    tz: Annotated[str | None, typer.Option(help="cli.window.tz", show_default=False)] = None,
    campaign: Annotated[
        Path | None, typer.Option(help="cli.window.campaign", metavar="DIR", show_default=False)
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="cli.window.tasks", metavar="CSV", show_default=False)] = None,
    deadline: Annotated[str | None, typer.Option(help="cli.window.deadline", show_default=False)] = None,
    gpu: Annotated[str | None, typer.Option(help="cli.window.gpu", show_default=False)] = None,
    lots: Annotated[int | None, typer.Option(help="cli.window.lots", show_default=False)] = None,
    catalogue: CatalogueOption = None,
    spot: SpotOption = False,
    increment_minutes: IncrementOption = 60,
) -> Shown:
    """Say how long an access window is and which packages cover it."""
    from lab.screen.windows import covered

    files = _catalogues(catalogue, spot, increment_minutes)
    return covered(
        *rentals.windows(rentals.WindowQuestion(start, end, tz, campaign, tasks, deadline, gpu, lots, files))
    )


def _catalogues(paths: list[Path] | None, spot: bool, increment_minutes: int) -> "CatalogueFiles":
    from lab.store.catalogue import CatalogueFiles

    return CatalogueFiles(tuple(paths or ()), spot, increment_minutes)
