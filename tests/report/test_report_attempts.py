"""Every attempt: rows, filters, the evidence behind each, and the compact data of a long table."""

from __future__ import annotations

import json
from typing import Any

import report_campaigns as made
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.messages import DASH
from lab.report import paging, view, view_attempts
from lab.report.blocks import Block, Column, Entries, Fold, Section, Table
from lab.report.words import Words

LONG = 250


def _section(document: dict[str, Any], language: str = "en") -> Section:
    return view_attempts.attempts(document, Words(document, language))


def _table(section: Section) -> Table:
    (table,) = [one for one in section.blocks if isinstance(one, Table)]
    return table


def _entries(blocks: tuple[Block, ...]) -> Entries:
    (fold,) = [one for one in blocks if isinstance(one, Fold)]
    (entries,) = fold.blocks
    assert isinstance(entries, Entries)
    return entries


def _long() -> dict[str, Any]:
    passes = {"b1": [41.0 + n / 100 for n in range(LONG)], "b8": [24.0 + n / 100 for n in range(LONG)]}
    return made.document(made.campaign(passes))


def _of(coded: dict[str, Any]) -> list[Any]:
    return list(coded["each"]) if "each" in coded else [coded["of"][place] for place in coded["at"]]


def test_each_row_leads_to_its_evidence() -> None:
    """Folder, predictions and their fingerprint, identifiers, memory counter by counter, machine and seal."""
    document = made.document(made.campaign(made.MIXED, outcome="out_of_memory"))
    section = _section(document)
    table, entries = _table(section), _entries(section.blocks)
    assert [row[0].href for row in table.rows] == [f"#{one.id}" for one in entries.items]
    kept = dict(entries.items[0].pairs)
    first = document["attempts"][0]
    assert kept["folder"] == f"attempts/{first['attempt_id']}/"
    assert kept["their sha256"] == "ab" * 32
    assert kept["identifiers"].startswith("expected: 1,000; observed: 1,000; twice or more: 0")
    assert kept["memory"] == (
        "cuda:0: allocated by tensors 1.50\u00a0GiB, reserved by the allocator 1.75\u00a0GiB, "
        "whole device, other programs included 2.50\u00a0GiB"
    )
    assert kept["seal"] == made.SEAL


def test_a_failed_attempt_has_a_row_with_its_outcome_and_an_entry_without_made_up_facts() -> None:
    """What is not there is not shown, and that no predictions were kept is said."""
    document = made.document(made.campaign(made.MIXED, outcome="out_of_memory"))
    section = _section(document)
    place = next(n for n, one in enumerate(document["attempts"]) if one["outcome"] == "out_of_memory")
    shown = [cell.text for cell in _table(section).rows[place]]
    assert shown[3:7] == ["out of memory", "rejected", "412 of 1,000", DASH]
    kept = dict(_entries(section.blocks).items[place].pairs)
    assert kept["predictions"] == "none were kept"
    assert not kept.keys() & {"their sha256", "identifiers", "memory"}


def test_filters_offer_what_is_there_and_nothing_that_would_not_divide_the_rows() -> None:
    """One verdict in all rows needs no filter."""
    tools = _table(_section(made.document(made.campaign()))).tools
    assert tools is not None
    assert [(one.label, one.options) for one in tools.choices] == [("variant", ("b1", "b4", "b8"))]
    mixed = _table(_section(made.document(made.campaign(made.MIXED)))).tools
    assert mixed is not None
    assert [one.label for one in mixed.choices] == ["variant", "outcome", "verdict"]


def test_a_long_table_keeps_its_first_rows_and_has_all_of_them_as_data() -> None:
    """H5: what the script builds rows of says exactly what rows of the page would say."""
    document = _long()
    section = _section(document)
    table = _table(section)
    assert (len(table.rows), table.data is None) == (paging.FIRST, False)
    assert "50 of the 500 rows" in (table.partial or "")
    columns = json.loads(table.data or "")["columns"]
    for place, column in enumerate(columns):
        assert _of(column["text"])[: paging.FIRST] == [row[place].text for row in table.rows]
    assert len(_of(columns[0]["text"])) == len(document["attempts"])
    durations = [place for place, one in enumerate(table.columns) if one.label == "duration"]
    assert [float(one) for one in _of(columns[durations[0]]["sort"])] == [
        one["duration_s"] for one in document["attempts"]
    ]


def test_the_entries_of_a_long_table_are_data_too() -> None:
    """The evidence of the last of thousands of attempts is one click away."""
    document = _long()
    entries = _entries(_section(document).blocks)
    assert len(entries.items) == paging.FIRST
    stored = json.loads(entries.data or "")
    assert stored["titles"] == [one["attempt_id"] for one in document["attempts"]]
    by_label = {label: _of(values) for label, values in stored["pairs"]}
    assert by_label["folder"][-1] == f"attempts/{document['attempts'][-1]['attempt_id']}/"


def test_a_long_campaign_draws_areas_and_lists_ranges() -> None:
    """H5: charts aggregate, and their table has the numbers that they draw."""
    passes = {"b1": [41.0 + n / 100 for n in range(400)], "b8": [24.0 + n / 100 for n in range(400)]}
    whole = made.campaign(passes, protocol=made.protocol(repetitions=400))
    document = {**made.document(whole), "report_version": 1}
    section = next(one for one in view.note(document, "en").sections if one.id == "durations")
    figure = json.loads(next(block.figure for block in section.blocks if hasattr(block, "figure")))
    assert max(len(trace.get("x", ())) for trace in figure["data"]) < 100
    ranges = [block for fold in section.blocks if isinstance(fold, Fold) for block in fold.blocks
              if isinstance(block, Table) and block.id == "ranges"]  # fmt: skip
    assert sum(int(row[-1].text) for row in ranges[0].rows) == 800


@settings(max_examples=15)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=paging.ALL_IN_THE_PAGE + 1, max_size=300))
def test_coded_values_come_back_as_they_were(values: list[str | None]) -> None:
    """Nothing that a cell holds, `</script>` included, is lost or can end the data."""
    texts = [one or "</script><!--&" for one in values]
    stack = paging.Stack(Column("c"), texts, note=values)
    document = made.document(made.campaign())
    data = paging.table("t", "c", [stack], None, Words(document, "en")).data or ""
    assert not set("<>&") & set(data)
    (column,) = json.loads(data)["columns"]
    assert _of(column["text"]) == texts
    assert (_of(column["note"]) if "note" in column else [None] * len(values)) == values
