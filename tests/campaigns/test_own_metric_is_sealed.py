"""A metric of the user's own is sealed with its code: the file behind it cannot be changed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lab.model.protocol import Protocol
from lab.store.files import sha256_file
from lab.store.manifest import read_manifest
from lab.store.workbook import WorkbookContent, write_workbook

Said = tuple[int, str]


def test_a_changed_file_of_an_own_metric_is_named_by_every_command(tmp_path: Path, said: Callable[..., Said]) -> None:
    """Old fingerprint and new; the gate `sealed` fails, and amending it after attempts were known does not help."""
    (tmp_path / "work.py").write_text("def answers(inputs):\n    for one, _ in inputs:\n        yield one, 'a'\n")
    (tmp_path / "own.py").write_text("def cost(confusion):\n    return 1\n")
    (tmp_path / "corpus.jsonl").write_text('{"id": "1", "text": "x", "label": "a"}\n')
    head = 'schema = 1\nname = "n"\nlanguage = "en"\n[[corpora]]\nid = "c"\npath = "corpus.jsonl"\n'
    head += 'reference_column = "label"\nlabels = ["a"]\n[run]\nwarm_up = { passes = 0, inputs = 0 }\n'
    head += '[metrics.cost]\nfunction = "own:cost"\nhigher_is_better = false\n'
    head += '[defaults]\nworkload = "python"\nfunction = "work:answers"\n[[variants]]\nid = "one"\n'
    (tmp_path / "manifest.toml").write_text(head)
    terms = Protocol("?", metric="cost", threshold=1, repetitions=1, time_zone="UTC")
    terms = replace(terms, deadline=datetime(2027, 1, 8, tzinfo=UTC))
    write_workbook(tmp_path / "campaign.xlsx", WorkbookContent(terms), read_manifest(tmp_path / "manifest.toml"))
    assert said("run", tmp_path)[0] == 0
    seal = (tmp_path / "seal.json").read_text(encoding="utf-8")
    at = json.loads(seal)["sealed_at"]
    (tmp_path / "seal.json").write_text(seal.replace(at, "2020-01-01T00:00:00+00:00"), encoding="utf-8")
    for command in ("check", "status"):  # a seal dated otherwise: every attempt keeps the date it was started under
        _, text = said(command, tmp_path)
        assert f"2020-01-01T00:00:00+00:00, and attempts that started under it keep {at}" in text, command
    (tmp_path / "seal.json").write_text(seal, encoding="utf-8")
    before = sha256_file(tmp_path / "own.py")
    (tmp_path / "own.py").write_text("def cost(confusion):\n    return 0\n")
    after = sha256_file(tmp_path / "own.py")
    for command in ("check", "run", "judge", "report", "bundle"):
        out = ("--out", tmp_path / "out.zip") if command == "bundle" else ()
        _, text = said(command, tmp_path, *out)
        assert "metrics.cost.function_sha256" in text, command
        assert before in text, command
        assert after in text, command
    assert said("amend", tmp_path, "--reason", "a mistake in it")[0] == 0
    assert said("report", tmp_path)[0] == 0
    for number in (1, 2):
        document = json.loads((tmp_path / "report" / f"v{number}" / "decision.json").read_text(encoding="utf-8"))
        gates = {one["gate"]: one["result"] for one in document["variants"][0]["gates"]}
        assert gates["sealed"] == "failed"
    assert document["amendments"][0]["acceptance_terms"] == ["metrics.cost.function_sha256"]
