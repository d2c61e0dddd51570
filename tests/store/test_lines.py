"""A changed line is found again by its short fingerprint, wherever it is and whatever was added or taken away."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.store import lines
from lab.store.lines import changed_lines, read_lines


def recorded(path: Path, texts: list[str]) -> lines.Lines:
    """The fingerprints of a file of these lines."""
    path.write_text("".join(f"{one}\n" for one in texts), encoding="utf-8")
    found = read_lines(path)
    assert found is not None
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.text("ab", max_size=2), min_size=1, max_size=12), st.data())
def test_a_changed_line_is_named_by_its_number(tmp_path: Path, texts: list[str], data: st.DataObject) -> None:
    """The line as it is now, and nothing else."""
    before = recorded(tmp_path / "f", texts)
    place = data.draw(st.integers(0, len(texts) - 1))
    assert changed_lines(tmp_path / "f", before) == ()
    recorded(tmp_path / "f", [*texts[:place], "other", *texts[place + 1 :]])
    (found,) = changed_lines(tmp_path / "f", before)
    assert (found.first, found.last, found.now_last, found.text) == (place + 1, place + 1, place + 1, "other")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.text("ab", max_size=2), max_size=9), st.lists(st.text("ab", max_size=2), max_size=9))
def test_lines_added_or_taken_away_are_one_span(tmp_path: Path, before: list[str], after: list[str]) -> None:
    """What is outside the span is the same in both; equal files have none."""
    was = recorded(tmp_path / "f", before)
    recorded(tmp_path / "f", after)
    found = changed_lines(tmp_path / "f", was)
    assert bool(found) == (before != after)
    if len(before) != len(after):
        (one,) = found
        assert before[: one.first - 1] == after[: one.first - 1]
        assert before[one.last :] == after[one.now_last :]


def test_many_lines_share_a_fingerprint(tmp_path: Path) -> None:
    """At most 4096 are kept; the difference names the lines that share one."""
    texts = [str(number) for number in range(10_000)]
    before = recorded(tmp_path / "f", texts)
    assert len(before.each()) <= 4096
    texts[5000] = "x"
    recorded(tmp_path / "f", texts)
    (found,) = changed_lines(tmp_path / "f", before)
    assert found.first <= 5001 <= found.last < found.first + before.per


def test_a_large_file_is_left_to_its_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines are not read."""
    monkeypatch.setattr(lines, "_LARGEST", 3)
    (tmp_path / "f").write_text("abcd")
    assert read_lines(tmp_path / "f") is None
