"""Rows of a file that others wrote: a line is read as it stands, or named."""

from __future__ import annotations

from pathlib import Path

from lab.errors import Fault
from lab.store.tables import Table


def test_a_key_twice_in_a_line_is_named(tmp_path: Path) -> None:
    """Which of the two is meant, nobody can say; within the text, or deeper in the line, the word is no key."""
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(
        b'{"id": "a", "text": "the \\"id\\" and \\"text\\"", "more": {"id": "z"}}\n'
        b'{"id": "b", "id": "c", "text": "t"}\n'
        b'{"id": "d", "text": "t", "more": 1, "more": 2}\n'
    )
    first, second, third = Table(path, path.name).rows(("id", "text"))
    assert first == (1, {"id": "a", "text": 'the "id" and "text"'})
    assert third == (3, {"id": "d", "text": "t"})  # nobody asks for `more`
    number, found = second
    assert isinstance(found, Fault)
    assert (number, found.slug, found.place, found.values["name"]) == (2, "corpus-key-twice", "line 2", "id")
