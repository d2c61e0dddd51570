"""A reason or a warning as data: a key of the catalogues and the facts its text needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class Reason:
    """Why something is so, in no language yet.

    Attributes:
        key: key of a text in the catalogues, e.g. `gate.deadline.failed`.
        values: the facts that the text names; plain scalars, strings or lists of them.
    """

    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the facts."""
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def __hash__(self) -> int:
        """Hash by key and facts, so that reasons can stand in sets."""
        return hash((self.key, repr(sorted(self.values.items(), key=lambda item: item[0]))))


def reason(key: str, **values: object) -> Reason:
    """Build a `Reason` from its key and facts."""
    return Reason(key, values)
