"""What changed between two published documents, as reasons that name both values."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from lab.messages import DASH
from lab.model.moments import in_zone
from lab.model.reason import Reason, reason
from lab.report.document_plain import Json

_SHORT = 12  # hex digits of a fingerprint that are enough to tell two apart
_NAMED = 5  # attempts named one by one; more are counted


def changes(before: Json | None, after: Json) -> tuple[Reason, ...]:
    """What a reader of the earlier version must know: answer, variants, counts, prices, terms, amendments, files.

    Args:
        before: the version before, or None for the first.
        after: the version itself.
    """
    if before is None:
        return (reason("report.change.first"),)
    found = (
        *_answer(before["decision"], after["decision"]),
        *_variants(before, after),
        *_settings(before, after),
        *_labels(before["corpora"], after["corpora"]),
        *_protocol(before["protocol"], after["protocol"]),
        *_amendments(before.get("amendments", []), after["amendments"], after["protocol"]["time_zone"]),
        *_environments(before, after),
        *_files(before["inputs"], after["inputs"]),
        *_notes(before, after),
    )
    return found or (reason("report.change.other"),)


def _answer(before: Json, after: Json) -> Iterator[Reason]:
    old, new = (before["status"], before["variant"]), (after["status"], after["variant"])
    if old == new:
        return
    kind = "chosen.chosen" if old[0] == new[0] == "chosen" else f"{old[0]}.{new[0]}"
    yield reason(f"report.change.answer.{kind}", before=old[1], after=new[1])


def _variants(before: Json, after: Json) -> Iterator[Reason]:
    old, new = ({one["id"]: one for one in document["variants"]} for document in (before, after))
    yield from (reason("report.change.variant.added", variant=name) for name in new if name not in old)
    yield from (reason("report.change.variant.removed", variant=name) for name in old if name not in new)
    for name in (name for name in new if name in old):
        if old[name]["eligible"] != new[name]["eligible"]:
            yield reason(f"report.change.eligible.{'yes' if new[name]['eligible'] else 'no'}", variant=name)
        yield from _counts(name, old[name], new[name])
        for figure in ("committed", "cost_per_validated_corpus"):
            yield from _money(figure, name, old[name], new[name])


def _counts(name: str, old: Json, new: Json) -> Iterator[Reason]:
    earlier = {(one["corpus"], one["seed"]): one for one in old["summaries"]}
    for one in new["summaries"]:
        was = earlier.get((one["corpus"], one["seed"]), {"accepted": 0, "attempts": 0})
        if (was["accepted"], was["attempts"]) != (one["accepted"], one["attempts"]):
            yield reason(
                "report.change.accepted", variant=name, corpus=one["corpus"], before=was["accepted"],
                of_before=was["attempts"], after=one["accepted"], of_after=one["attempts"],
            )  # fmt: skip


def _money(figure: str, name: str, old: Json, new: Json) -> Iterator[Reason]:
    was, now = (old[figure], old["currency"]), (new[figure], new["currency"])
    if was == now or was[0] is now[0] is None:
        return
    key = f"report.change.{figure}"
    if was[0] is None:
        yield reason(f"{key}.appeared", variant=name, after=Decimal(now[0]), currency=now[1])
    elif now[0] is None:
        yield reason(f"{key}.gone", variant=name, before=Decimal(was[0]), currency=was[1])
    else:
        yield reason(
            key, variant=name, before=Decimal(was[0]), currency_before=was[1], after=Decimal(now[0]), currency=now[1]
        )


def _settings(before: Json, after: Json) -> Iterator[Reason]:
    old, new = _settings_of(before), _settings_of(after)
    for variant in (one for one in new if one in old):
        for key in sorted({*old[variant], *new[variant]}):
            was, now = old[variant].get(key), new[variant].get(key)
            if was != now:
                yield reason(
                    "report.change.setting", variant=variant, setting=key, before=_plain(was), after=_plain(now)
                )


def _settings_of(document: Json) -> dict[str, Json]:
    """Variant -> its settings, those it shares with the others among them."""
    shared, different = document["settings"]["shared"], document["settings"]["different"]
    names = [one["id"] for one in document["variants"]]
    return {name: {**shared, **{key: values.get(name) for key, values in different.items()}} for name in names}


def _labels(before: list[Json], after: list[Json]) -> Iterator[Reason]:
    """The allowed predictions of each corpus that both versions know, where they are others now."""
    old = {one["id"]: one["labels"] for one in before}
    for one in after:
        was, now = old.get(one["id"]), one["labels"]
        if was is not None and was != now:
            key = "report.change.labels_order" if sorted(was) == sorted(now) else "report.change.labels"
            yield reason(key, corpus=one["id"], before=_plain(was), after=_plain(now))


def _protocol(before: Json, after: Json) -> Iterator[Reason]:
    for name in after:
        was, now = before.get(name), after[name]
        if was != now:
            yield reason("report.change.protocol", field=name, before=_plain(was), after=_plain(now))


def _amendments(before: list[Json], after: list[Json], zone: str | None) -> Iterator[Reason]:
    known = {one["fingerprint"] for one in before}
    for one in after:
        if one["fingerprint"] not in known:
            at = in_zone(one["amended_at"], zone)
            changed = [f"{each['name']} {_plain(each['sealed'])} → {_plain(each['now'])}" for each in one["changes"]]
            facts = {"why": one["reason"], "n": len(one["known"]["attempts"])}
            yield reason("report.change.amended", amended_at=at, changed=changed, **facts)


def _environments(before: Json, after: Json) -> Iterator[Reason]:
    old, new = ({one["fingerprint"]: one for one in document["environments"]} for document in (before, after))
    added, removed = sorted({*new} - {*old}), sorted({*old} - {*new})
    yield from (reason("report.change.environment.added", fingerprint=one) for one in added)
    yield from (reason("report.change.environment.removed", fingerprint=one) for one in removed)
    if len(added) == len(removed) == 1:  # one machine, seen in another state
        yield from _facts(old[removed[0]], new[added[0]])


def _facts(before: Json, after: Json) -> Iterator[Reason]:
    old, new = ({**one["facts"], "devices": ", ".join(one["device_names"])} for one in (before, after))
    differ = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
    for key in differ[:_NAMED]:
        facts = {"before": old.get(key) or DASH, "after": new.get(key) or DASH}
        yield reason("report.change.environment.fact", fact=key, **facts)


def _files(before: dict[str, str], after: dict[str, str]) -> Iterator[Reason]:
    added = [path for path in after if path not in before]
    new_attempts = sorted({path.split("/")[1] for path in added if path.endswith("/attempt.json")})
    if new_attempts:
        more = ["…"] if len(new_attempts) > _NAMED else []
        yield reason("report.change.attempts.added", n=len(new_attempts), ids=[*new_attempts[:_NAMED], *more])
    for path in added:
        if not _of_attempt(path) and not path.startswith("environments/"):
            yield reason("report.change.file.added", path=path)
    for path, digest in before.items():
        if path not in after:
            yield reason("report.change.file.removed", path=path)
        elif after[path] != digest:
            yield _changed(path, digest, after[path])


def _changed(path: str, was: str, now: str) -> Reason:
    facts = {"path": path, "before": was[:_SHORT], "after": now[:_SHORT]}
    if _of_attempt(path):
        kind = "predictions" if path.endswith("/predictions.jsonl") else "record"
        return reason(f"report.change.{kind}", attempt_id=path.split("/")[1], **facts)
    return reason("report.change.file.changed", **facts)


def _of_attempt(path: str) -> bool:
    return path.startswith("attempts/") and path.count("/") > 1


def _notes(before: Json, after: Json) -> Iterator[Reason]:
    if before["author_notes"] != after["author_notes"]:
        yield reason("report.change.notes")


def _plain(value: Any) -> Any:  # noqa: ANN401  (a field of the protocol is any JSON value)
    if value is None or value == []:
        return DASH
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return "; ".join(str(_plain(one)) for one in value)
    return " ".join(str(one) for one in value.values() if one is not None)
