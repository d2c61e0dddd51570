"""The commands that bring a campaign's workbook up to date, and join what several machines measured."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.base import HERE, Folder, command
from lab.screen.answers import Shown


@command("sync")
def sync(
    folder: Folder = HERE, *, rebuild: Annotated[bool, typer.Option("--rebuild", help="cli.sync.rebuild")] = False
) -> Shown:
    """Bring the workbook up to date with the attempts."""
    from lab.exchange.sync import sync as bring
    from lab.screen.exchange import synced

    return synced(bring(folder, rebuild=rebuild))


@command("merge")
def merge(
    folder: Annotated[Path, typer.Argument(help="cli.merge.dir", metavar="DIR", show_default=False)],
    sources: Annotated[list[Path], typer.Argument(help="cli.merge.sources", metavar="SOURCE…", show_default=False)],
) -> Shown:
    """Take in the attempts of a campaign that was measured on other machines."""
    from lab.exchange.merge import merge as join
    from lab.screen.exchange import merged

    return merged(join(folder, sources))


@command("import")
def bring_in(
    folder: Annotated[Path, typer.Argument(help="cli.import.dir", metavar="DIR", show_default=False)],
    files: Annotated[list[Path], typer.Argument(help="cli.import.files", metavar="FILE…", show_default=False)],
    *,
    variant: Annotated[list[str] | None, typer.Option(help="cli.import.variant", show_default=False)] = None,
    corpus: Annotated[str | None, typer.Option(help="cli.import.corpus", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help="cli.import.seed", show_default=False)] = None,
    map_file: Annotated[Path | None, typer.Option("--map", help="cli.import.map", show_default=False)] = None,
    unit: Annotated[list[str] | None, typer.Option(help="cli.import.unit", show_default=False)] = None,
    passes: Annotated[str | None, typer.Option(help="cli.import.passes", show_default=False)] = None,
    ended: Annotated[str | None, typer.Option(help="cli.import.ended", show_default=False)] = None,
    plan: Annotated[bool, typer.Option("--plan", help="cli.import.plan")] = False,
) -> Shown:
    """Take in results that were measured with other tools."""
    from lab.exchange.importing import Asked
    from lab.exchange.importing import bring_in as take
    from lab.screen.importing import imported

    asked = Asked(tuple(variant or ()), corpus, seed, tuple(unit or ()), passes, ended, map_file)
    return imported(take(folder, files, asked, plan=plan))


@command("export")
def export(
    folder: Folder = HERE, *, out: Annotated[Path, typer.Option(help="cli.export.out", show_default=False)]
) -> Shown:
    """Write attempts, summaries and latencies for pandas, R or a notebook."""
    from lab.exchange.exporting import export as write
    from lab.screen.importing import exported

    return exported(write(folder, out))
