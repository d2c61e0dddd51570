"""The plan of a campaign, and what is still missing of it."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.errors import InvalidInputError, UsageProblemError
from lab.measure.schedule import order_facts, order_of, order_of_round, plan, remaining
from lab.model.attempt import OUTCOMES, Attempt, Outcome, Record, slot_key
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol


def _manifest(variants: int = 3, corpora: int = 1, seeds: tuple[int, ...] = (0,)) -> Manifest:
    data = {
        "schema": 1,
        "name": "plan",
        "language": "en",
        "corpora": [{"id": f"c{number}", "path": f"{number}.jsonl"} for number in range(corpora)],
        "run": {"seeds": seeds},
        "variants": [
            {"id": f"v{number}", "workload": "python", "function": "work:go"} for number in range(1, variants + 1)
        ],
    }
    return Manifest.model_validate_json(json.dumps(data))


def _record(slot: object, outcome: Outcome | None) -> Record:
    names = {name: getattr(slot, name) for name in ("variant", "corpus", "seed", "round", "position")}
    return Record(Attempt("x", outcome=outcome, **names))


def test_rounds_rotate_as_the_seeds_say() -> None:
    """1-4-8, then 4-8-1, then 8-1-4, and again from the start."""
    orders = [order_of_round((1, 4, 8), number, 5) for number in range(1, 6)]
    assert orders == [(1, 4, 8), (4, 8, 1), (8, 1, 4), (1, 4, 8), (4, 8, 1)]


@given(st.integers(1, 12), st.integers(1, 12))
def test_each_round_holds_every_variant_once(variants: int, rounds: int) -> None:
    """A round is an order of all variants, whatever their number."""
    items = tuple(range(variants))
    for number in range(1, rounds + 1):
        assert sorted(order_of_round(items, number, rounds)) == list(items)


@given(st.integers(3, 12), st.integers(1, 5))
def test_fewer_rounds_than_variants_still_balance_the_positions(variants: int, pairs: int) -> None:
    """With an even number of rounds every variant has the same mean position."""
    rounds = 2 * pairs
    if rounds >= variants:
        rounds = 2
    places: Counter[int] = Counter()
    for number in range(1, rounds + 1):
        for place, item in enumerate(order_of_round(tuple(range(variants)), number, rounds)):
            places[item] += place
    assert len(set(places.values())) == 1


@given(st.integers(2, 6), st.integers(2, 12))
def test_as_many_rounds_as_variants_put_each_of_them_first(variants: int, more: int) -> None:
    """No variant is always the first, and each is first once before any is twice."""
    firsts = [order_of_round(tuple(range(variants)), number, variants + more)[0] for number in range(1, variants + 1)]
    assert sorted(firsts) == list(range(variants))


def test_the_plan_goes_round_by_round_through_seeds_and_corpora() -> None:
    """Every seed and corpus has its rounds, in one rotated order each; positions count from 1."""
    slots = plan(_manifest(2, corpora=2, seeds=(0, 7)), Protocol(repetitions=2))
    assert len(slots) == 2 * 2 * 2 * 2
    assert [(slot.seed, slot.corpus, slot.variant, slot.position) for slot in slots[:4]] == [
        (0, "c0", "v1", 1),
        (0, "c0", "v2", 2),
        (0, "c1", "v1", 1),
        (0, "c1", "v2", 2),
    ]
    assert [slot.round for slot in slots] == [1] * 8 + [2] * 8
    assert [slot.variant for slot in slots[8:10]] == ["v2", "v1"]


def test_only_some_variants_rotate_among_themselves() -> None:
    """A host that runs two of three variants gives each of them the first place in turn."""
    slots = plan(_manifest(3), Protocol(repetitions=2), only=["v2", "v3"])
    assert [slot.variant for slot in slots] == ["v2", "v3", "v3", "v2"]


def test_an_unknown_variant_is_refused_by_name() -> None:
    """The fault names what was asked for and what there is."""
    with pytest.raises(UsageProblemError) as raised:
        plan(_manifest(1), Protocol(repetitions=1), only=["v1", "w"])
    assert raised.value.faults[0].values["ids"] == ["w"]


def test_a_protocol_without_repetitions_has_no_plan() -> None:
    """The field is named, and no workbook, which may have another name than the usual one."""
    with pytest.raises(InvalidInputError) as raised:
        plan(_manifest(1), Protocol())
    assert (raised.value.faults[0].file, raised.value.faults[0].place) == (None, "protocol.repetitions")


@pytest.mark.parametrize("outcome", [*OUTCOMES, None])
def test_only_what_was_cut_off_is_run_again(outcome: Outcome | None) -> None:
    """Failed, out of memory, timed out and completed slots are done; an interrupted or unfinished one is missing."""
    slots = plan(_manifest(2), Protocol(repetitions=1))
    missing = remaining(slots, [_record(slots[0], outcome)])
    assert missing == (slots if outcome in (None, "interrupted") else slots[1:])


def test_one_attempt_that_ended_by_itself_is_enough() -> None:
    """Cut off, then completed or failed: nothing is missing, whatever order a clock set back gives them."""
    slots = plan(_manifest(1), Protocol(repetitions=1))
    first, second = _record(slots[0], "interrupted"), _record(slots[0], "completed")
    assert remaining(slots, [first, second]) == ()
    assert remaining(slots, [second, first]) == ()


def test_one_process_for_a_variant_goes_variant_by_variant() -> None:
    """Nothing rotates: all rounds of the first, then all of the second; the rule of the order says so."""
    manifest = _manifest(2, seeds=(0, 7))
    kept = manifest.model_copy(update={"run": manifest.run.model_copy(update={"process": "per-variant"})})
    slots = plan(kept, Protocol(repetitions=2))
    assert [(slot.variant, slot.round, slot.seed, slot.position) for slot in slots] == [
        (f"v{place}", number, seed, place) for place in (1, 2) for number in (1, 2) for seed in (0, 7)
    ]
    assert order_of(slots) == "by_variant"
    assert sorted(map(slot_key, slots)) == sorted(map(slot_key, plan(manifest, Protocol(repetitions=2))))


def test_the_plan_is_kept_with_each_attempt() -> None:
    """The rule, the order of its round, and its place in the whole."""
    rotated, balanced = (plan(_manifest(3), Protocol(repetitions=number)) for number in (3, 2))
    assert order_facts(rotated, rotated[4]) == {
        "plan.order": "rotated",
        "plan.round": "v2 v3 v1",
        "plan.place": "5/9",
    }
    assert order_facts(balanced, balanced[3])["plan.order"] == "balanced"
    assert order_facts(balanced, balanced[3])["plan.round"] == "v3 v2 v1"
