"""What the demo declares once it is measured: one deliverable a variant, in a workbook that may be open elsewhere."""

from __future__ import annotations

from pathlib import Path

from campaign_folders import Plan, build, protocol, rounds

from lab.demo.campaign import _declare_deliverables
from lab.errors import Fault
from lab.store.campaign import read_campaign

PLAN = Plan(
    rounds({"b1": (20.1, "failed", 20.3), "b8": ("failed", "failed", "failed")}),
    protocol=protocol(repetitions=3, required_accepted_passes=1, planned_deliverables=("tickets",)),
)


def test_each_variant_delivers_its_first_accepted_attempt(tmp_path: Path) -> None:
    """And a variant without one delivers nothing; a second call adds nothing."""
    folder, noticed = build(tmp_path / "campaign", PLAN), list[Fault]()
    for _ in range(2):
        _declare_deliverables(folder, noticed.append)
    found = read_campaign(folder).deliverables
    assert [(one.deliverable, one.variant, one.accepted) for one in found] == [("tickets", "b1", True)]
    assert str(found[0].attempt_id).startswith("b1_tickets_r1_")
    assert noticed == []


def test_a_workbook_that_is_open_elsewhere_is_told_of(tmp_path: Path) -> None:
    """The deliverables are in a file beside it then, and whoever started the demo hears why."""
    folder, noticed = build(tmp_path / "campaign", PLAN), list[Fault]()
    (folder / "~$campaign.xlsx").touch()
    _declare_deliverables(folder, noticed.append)
    assert [(one.slug, one.file) for one in noticed] == [("workbook-locked", "campaign.xlsx")]
    assert read_campaign(folder).deliverables == ()
    assert len(list(folder.glob("campaign.new-rows-*.xlsx"))) == 1
