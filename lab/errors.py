"""The one error tree. An error carries facts; its words are in the catalogues under its slug.

Every slug has two texts: `fault.<slug>` (what was found) and `fault.<slug>.do` (what to do). A test holds the
catalogues to the slugs used in the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar


def _frozen(values: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(values))


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, where it is, and the facts that its text needs.

    Attributes:
        slug: stable name, words joined by `-`; texts `fault.<slug>` and `fault.<slug>.do` exist for it.
        file: the file as the user knows it (relative to the campaign where possible), or None.
        place: cell (`protocol!B7`), `line 12` or key (`run.warm_up`); None when the whole file is meant.
        values: named facts for the text; plain scalars or strings.
    """

    slug: str
    file: str | None = None
    place: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the facts, so that a fault can be shared and compared."""
        object.__setattr__(self, "values", _frozen(self.values))


def fault(slug: str, *, file: str | None = None, place: str | None = None, **values: object) -> Fault:
    """Build a `Fault`; keyword arguments beyond `file` and `place` are the facts of its text."""
    return Fault(slug, file, place, values)


class LabError(Exception):
    """Something a person can act on: one or several faults, and the exit code of the command that met them."""

    exit_code: ClassVar[int] = 4

    def __init__(self, *faults: Fault) -> None:
        """Take the faults, all of them at once where several were found."""
        super().__init__(*faults)
        self.faults: tuple[Fault, ...] = faults

    def __str__(self) -> str:
        """Say the faults without a catalogue, for logs and debugging."""
        return "; ".join(f"{f.slug} [{f.file or ''} {f.place or ''}] {dict(f.values)}" for f in self.faults)


class CheckFoundError(LabError):
    """A check found something: the input is readable and its content does not hold (exit code 1)."""

    exit_code = 1


class UsageProblemError(LabError):
    """The command was called wrongly (exit code 2)."""

    exit_code = 2


class InvalidInputError(LabError):
    """An input is invalid or unreadable (exit code 3)."""

    exit_code = 3


class OutsideFailureError(LabError):
    """Disk, device, permissions or another program failed (exit code 4)."""

    exit_code = 4
