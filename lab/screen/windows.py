"""What `lab window` prints: a span, its waiting, the deadline, and each package beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lab.calcul_forfaits import Answer, as_text, plain_hours
from lab.messages import DASH, Messages
from lab.screen.answers import Shown, reason_text

if TYPE_CHECKING:
    from lab.analysis.coverage import Beyond, Coverage, Row
    from lab.model.reason import Reason


def covered(found: Sequence[Coverage], notices: Sequence[Reason]) -> Shown:
    """`lab window`: one window, or one per variant under `windows`."""
    single = len(found) == 1 and found[0].variant is None
    data = _data(found[0]) if single else {"windows": [{"variant": one.variant, **_data(one)} for one in found]}
    if notices:
        data["notices"] = [{"key": one.key, "values": dict(one.values)} for one in notices]

    def text(words: Messages) -> str:
        parts = ["\n".join(_lines(one, words)) for one in found]
        return "\n\n".join([*parts, *(reason_text(one, words) for one in notices)])

    return Shown(0, data, text)


def signed_hours(hours: Fraction) -> int | str:
    """Hours as JSON holds them, with their sign: never more left, never fewer missing, than there are."""
    millionths = hours * 10**6 // 1
    shown = plain_hours(Fraction(abs(millionths), 10**6))
    return shown if millionths >= 0 else -shown if isinstance(shown, int) else f"-{shown}"


def _data(found: Coverage) -> dict[str, Any]:
    span, left = found.window, found.deadline_hours_left
    data: dict[str, Any] = {
        "hours": plain_hours(span.hours) if span else None,
        "start": span.start.isoformat() if span else None,
        "end": span.end.isoformat() if span else None,
        "time_zone": found.time_zone,
        "packages": [
            {"days": one.days, "covers": one.covers, "hours_left": signed_hours(one.hours_left)}
            | ({"offers": [dict(row) for row in one.offers]} if found.gpu else {})
            for one in found.packages
        ],
        "task_hours": None if found.task_hours is None else plain_hours(found.task_hours),
        "waiting_hours": None if found.waiting_hours is None else plain_hours(found.waiting_hours),
        "deadline": found.deadline.isoformat() if found.deadline else None,
        "deadline_met": None if left is None else left >= 0,
        "deadline_hours_left": None if left is None else signed_hours(left),
        "beyond": _beyond_data(found.beyond, found.gpu) if found.beyond else None,
    }
    return data | ({"gpu": found.gpu, "hourly": [dict(row) for row in found.hourly]} if found.gpu else {})


def _beyond_data(beyond: Beyond, gpu: str | None) -> dict[str, Any]:
    data: dict[str, Any] = {"days": beyond.days, "periods": beyond.periods, "extra_periods": beyond.extra_periods}
    return data | ({"offers": [dict(row) for row in beyond.offers]} if gpu else {})


def _lines(found: Coverage, words: Messages) -> Iterator[str]:
    if found.variant is not None:
        yield words.text("window.variant", variant=found.variant)
    if found.window is None:
        yield words.text("window.unknown")
        return
    span = found.window
    start, end = words.date_time(span.start, exact=True), words.date_time(span.end, exact=True)
    facts = {"start": start, "end": end, "zone": found.time_zone or DASH}
    yield words.text("window.span", hours=_hours(plain_hours(span.hours), words), **facts)
    if found.task_hours is not None and found.waiting_hours is not None:
        tasks, waiting = plain_hours(found.task_hours), plain_hours(found.waiting_hours)
        yield words.text("window.tasks", tasks=_hours(tasks, words), waiting=_hours(waiting, words))
    left = found.deadline_hours_left
    if left is not None:
        key = "window.deadline.met" if left >= 0 else "window.deadline.missed"
        yield words.text(
            key, deadline=words.date_time(found.deadline, exact=True), hours=_hours(signed_hours(left), words)
        )
    for one in found.packages:
        key = "window.covers" if one.covers else "window.short"
        yield words.text(key, days=one.days, hours=_hours(signed_hours(one.hours_left), words))
        if found.gpu:
            yield from _offers(one.offers, found.gpu, words)
    if found.beyond:
        yield from _beyond(found.beyond, found.gpu, words)
    if found.hourly:
        yield words.text("window.hourly")
        yield from _offers(found.hourly, found.gpu or DASH, words)


def _beyond(beyond: Beyond, gpu: str | None, words: Messages) -> Iterator[str]:
    facts = {"days": beyond.days, "periods": beyond.periods, "extra": beyond.extra_periods}
    yield words.text("window.beyond.priced" if beyond.offers else "window.beyond.days", **facts)
    for row in beyond.offers:
        yield from _offers([row], gpu or DASH, words)
        amount = words.money(Decimal(row["extra_committed"]), row["currency"])
        yield "  " + words.text("window.extra", amount=amount, extra=beyond.extra_periods)
    if gpu and not beyond.offers:
        yield "  " + words.text("window.unpriced", gpu=gpu)


def _offers(rows: Sequence[Row], gpu: str, words: Messages) -> Iterator[str]:
    """The offers as `lab price` says them, without what the line above has said; or that there is no price."""
    if not rows:
        yield "  " + words.text("window.unpriced", gpu=gpu)
        return
    plain: list[Mapping[str, Any]] = [{**row, "covers_window": None} for row in rows]
    for line in as_text(Answer(tuple(plain), listing=False, window=None), words.language).splitlines():
        yield f"  {line}"


def _hours(shown: int | str, words: Messages) -> str:
    return words.number(Decimal(str(shown).removeprefix("-")))
