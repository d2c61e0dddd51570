"""Which attempts belong to which planned pass: order, slots, and what has been tried.

A slot is one planned pass of a variant: corpus x seed x round (the product's method, section 8). A slot that the runner
or a person cut off is run again; a failed, out-of-memory or timed-out one never is, so the first attempt that ended by
itself is the one that stands for its slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from lab.model.attempt import Record, ended_by_itself
from lab.model.campaign import Campaign

Group = tuple[str, int | None]  # corpus, seed: the populations that are never pooled
_NO_TIME = datetime.max.replace(tzinfo=UTC)
_NO_NUMBER = 1 << 62


def moment(text: str | None) -> datetime | None:
    """An ISO 8601 text as a moment with its offset; None when it is absent, unreadable or without an offset."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return None if found.utcoffset() is None else found


def by_start(record: Record) -> tuple[datetime, str]:
    """Sort key: start, then id; attempts without a readable start last."""
    started = moment(record.attempt.started_at)
    return (started.astimezone(UTC) if started else _NO_TIME, record.attempt.attempt_id)


def in_schedule_order(records: Iterable[Record]) -> tuple[Record, ...]:
    """Records by round and position, then start and id: the same whatever the order of the rows."""

    def key(record: Record) -> tuple[int, int, tuple[datetime, str]]:
        row = record.attempt
        return (
            _NO_NUMBER if row.round is None else row.round,
            _NO_NUMBER if row.position is None else row.position,
            by_start(record),
        )

    return tuple(sorted(records, key=key))


def of_variant(campaign: Campaign, variant: str) -> tuple[Record, ...]:
    """All attempts of one variant, in schedule order."""
    return in_schedule_order(campaign.by_variant.get(variant, ()))


def groups(campaign: Campaign) -> tuple[Group, ...]:
    """Every planned (corpus, seed), in the manifest's order."""
    return tuple((corpus.id, seed) for corpus in campaign.manifest.corpora for seed in campaign.manifest.run.seeds)


def slots(campaign: Campaign, variant: str) -> dict[tuple[Group, int], Record | None]:
    """Every planned pass of a variant -> the attempt that stands for it, None where none ended by itself.

    Empty when the protocol does not state how many repetitions are planned. Attempts beyond the plan stand for none.
    """
    planned: dict[tuple[Group, int], Record | None] = {
        (group, number): None
        for group in groups(campaign)
        for number in range(1, (campaign.protocol.repetitions or 0) + 1)
    }
    for record in sorted(of_variant(campaign, variant), key=by_start):
        row = record.attempt
        if row.corpus is None or row.round is None or not ended_by_itself(row):
            continue
        slot = ((row.corpus, row.seed), row.round)
        if slot in planned and planned[slot] is None:
            planned[slot] = record
    return planned


def where(campaign: Campaign, group: Group) -> str:
    """A corpus and seed as a text names them; the seed only when several are planned or it is not the planned one."""
    corpus, seed = group
    planned = campaign.manifest.run.seeds
    return corpus if len(planned) == 1 and seed == planned[0] else f"{corpus} (seed={'-' if seed is None else seed})"
