"""The commands that write the report, hold it against the folder, and hand things over."""

from pathlib import Path
from typing import Annotated

import typer

from lab import pipeline
from lab.commands.base import HERE, Folder, command
from lab.errors import Fault
from lab.messages import Messages
from lab.screen import answers
from lab.screen.answers import Shown


@command("report")
def report(folder: Folder = HERE) -> Shown:
    """Write the decision report."""
    notices: list[Fault] = []
    return answers.reported(pipeline.report(folder, notice=notices.append), notices)


@command("verify")
def verify(
    folder: Folder = HERE,
    *,
    version: Annotated[int | None, typer.Option(help="cli.verify.version", show_default=False, min=1)] = None,
) -> Shown:
    """Hold a version of the report against the folder."""
    from lab.screen.integrity import verified

    return verified(pipeline.verify(folder, version))


@command("bundle")
def bundle(
    folder: Folder = HERE,
    *,
    out: Annotated[Path | None, typer.Option(help="cli.bundle.out", show_default=False)] = None,
    with_corpus: Annotated[bool, typer.Option("--with-corpus", help="cli.bundle.with_corpus")] = False,
) -> Shown:
    """Pack the campaign as a BagIt bag."""
    from lab.screen.integrity import bundled

    changed: list[Fault] = []
    return bundled(pipeline.bundle(folder, out, with_corpus=with_corpus, notice=changed.append), changed)


@command("kit")
def kit(out: Annotated[Path, typer.Argument(help="cli.kit.out", metavar="OUT", show_default=False)]) -> Shown:
    """Write the kit, one zip file a language."""
    return answers.kit_written(pipeline.kit(out))


@command("site")
def site(
    out: Annotated[Path, typer.Argument(help="cli.site.out", metavar="OUT", show_default=False)],
    *,
    example: Annotated[Path | None, typer.Option(help="cli.site.example", metavar="DIR", show_default=False)] = None,
    words: Messages,
) -> Shown:
    """Write the static site."""
    return answers.site_built(pipeline.site(out, words.language, example))
