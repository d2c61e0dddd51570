"""Files are replaced whole, paths stay in the campaign, and equal values have one text."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.errors import InvalidInputError, OutsideFailureError
from lab.store.canonical import canonical_json, plain, readable_json, sha256_text
from lab.store.files import (
    inside,
    read_json,
    read_text,
    replacing,
    resource,
    sha256_file,
    sweep,
    write_atomically,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def shuffled(value: object) -> object:
    """The same value with the keys of every mapping in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(one) for key, one in reversed(list(value.items()))}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


@given(JSON)
def test_canonical_json_says_the_value_and_does_not_depend_on_the_order_of_keys(value: object) -> None:
    """Equal values, one text; the text gives the value back."""
    assert canonical_json(shuffled(value)) == canonical_json(value)
    assert json.loads(canonical_json(value)) == value


@given(JSON)
def test_readable_json_gives_the_value_back(value: object) -> None:
    """Indentation is for people only; half a character survives as JSON's escape."""
    assert json.loads(readable_json(value)) == value


def test_canonical_json_has_no_spaces_and_keeps_accents() -> None:
    """Keys sorted, characters as they are, money as text."""
    value = {"é": (1, None), "a": Decimal("220.50"), "t": datetime(2026, 11, 30, tzinfo=UTC)}
    assert canonical_json(value) == '{"a":"220.5","t":"2026-11-30T00:00:00+00:00","é":[1,null]}'


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20))
def test_equal_amounts_have_one_text(amount: Decimal) -> None:
    """220 and 220.00 are one amount, and the text is exact."""
    assert plain(amount) == plain(amount + Decimal("0.000000"))
    assert Decimal(plain(amount)) == amount


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), [float("-inf")]])
def test_a_number_that_is_none_is_refused(value: object) -> None:
    """Absent is None: NaN never reaches a file."""
    with pytest.raises(ValueError, match="finite"):
        canonical_json(value)


def test_a_value_without_a_plain_form_is_refused() -> None:
    """What cannot be written is an error of ours, not a made-up text."""
    with pytest.raises(TypeError):
        canonical_json({"a": {1, 2}})


def test_fingerprints_are_sha256(tmp_path: Path) -> None:
    """Of a file's bytes and of a text's UTF-8, as `sha256sum` says."""
    (tmp_path / "a").write_bytes("é\n".encode())
    assert sha256_file(tmp_path / "a") == sha256_text("é\n") == hashlib.sha256("é\n".encode()).hexdigest()


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    """New content under the old name and mode; nothing else is left in the folder."""
    path = tmp_path / "a.txt"
    write_atomically(path, b"one")
    path.chmod(0o640)
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_write_that_ends_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    """Whatever stops the writer, the file is the old one, whole, and no half file is left."""
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")

    def half() -> None:
        with replacing(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "slug"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EACCES, "no-permission"),
        (errno.EROFS, "disk-read-only"),
        (errno.EIO, "system-refused"),
    ],
)
def test_what_the_disk_refuses_is_a_fault_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, slug: str
) -> None:
    """Exit code 4, the old file whole."""
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")

    def refuse(_handle: int) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OutsideFailureError) as raised:
        write_atomically(path, b"new")
    assert [(one.slug, one.file) for one in raised.value.faults] == [(slug, str(path))]
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_writing_into_a_folder_that_is_gone_is_a_fault(tmp_path: Path) -> None:
    """No traceback, and no folder made up."""
    with pytest.raises(OutsideFailureError):
        write_atomically(tmp_path / "gone" / "a.txt", b"new")


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """A link in a campaign that came by mail cannot make the tool write elsewhere."""
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"theirs")
    link = tmp_path / "link.txt"
    link.symlink_to(outside)
    write_atomically(link, b"ours")
    assert outside.read_bytes() == b"theirs"
    assert link.read_bytes() == b"ours"


@pytest.mark.parametrize(
    "hostile", ["", " ", "..", "../a", "a/../../b", "/etc/passwd", "C:\\a", "\\\\host\\a", "..\\a", "a\0b"]
)
def test_a_path_that_leaves_the_campaign_is_refused(tmp_path: Path, hostile: str) -> None:
    """Absolute, upwards, of another system or empty: none of them is a path in the campaign."""
    with pytest.raises(InvalidInputError) as raised:
        inside(tmp_path, hostile, "manifest.toml")
    assert [(one.slug, one.file) for one in raised.value.faults] == [("path-leaves-campaign", "manifest.toml")]


def test_a_link_that_leads_out_of_the_campaign_is_refused(tmp_path: Path) -> None:
    """Also where the link is a folder on the way."""
    campaign = tmp_path / "campaign"
    campaign.mkdir()
    (tmp_path / "secret.txt").write_text("x")
    (campaign / "link.txt").symlink_to(tmp_path / "secret.txt")
    (campaign / "up").symlink_to(tmp_path)
    for hostile in ("link.txt", "up/secret.txt"):
        with pytest.raises(InvalidInputError):
            inside(campaign, hostile)


@given(st.text(alphabet=st.sampled_from("ab./\\ :~\0é"), max_size=12))
def test_what_is_let_through_is_always_inside(text: str) -> None:
    """For any text: refused, or a path below the folder."""
    folder = Path("/tmp/campaign-that-need-not-exist")  # noqa: S108  (nothing is written)
    try:
        found = inside(folder, text)
    except InvalidInputError:
        return
    assert Path(os.path.normpath(found)).is_relative_to(folder)


def test_text_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    """A mark and Windows line ends are no content."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read_text(tmp_path / "a") == "one\ntwo\n"


def test_text_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    """The first line that cannot be read."""
    (tmp_path / "a").write_bytes(b"one\ntw\xe9\n")
    with pytest.raises(InvalidInputError) as raised:
        read_text(tmp_path / "a", "notes.fr.md")
    assert [(one.slug, one.file, one.place) for one in raised.value.faults] == [
        ("file-not-utf8", "notes.fr.md", "line 2")
    ]


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', "[" * 100_000, "1" * 5_000, ""])
def test_what_is_no_json_is_a_fault(tmp_path: Path, text: str) -> None:
    """Cut off, not a number, endlessly nested, or a number no computer holds: one message, no traceback."""
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InvalidInputError) as raised:
        read_json(tmp_path / "a.json")
    assert raised.value.faults[0].slug == "file-not-json"


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    """Each has its own message."""
    for path, slug in ((tmp_path / "none", "file-missing"), (tmp_path, "file-is-a-folder")):
        with pytest.raises(InvalidInputError) as raised:
            sha256_file(path)
        assert raised.value.faults[0].slug == slug


def test_what_ships_with_the_product_is_found(repository: Path) -> None:
    """In a checkout at its top level; what is nowhere is a fault."""
    assert resource("lab", "errors.py") == repository / "lab" / "errors.py"
    with pytest.raises(OutsideFailureError) as raised:
        resource("templates", "none.j2")
    assert raised.value.faults[0].slug == "resource-missing"


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """By the exact form of its name and only when nobody has written to it for ten minutes; links are left alone."""
    path = tmp_path / "campaign.xlsx"
    write_atomically(path, b"whole")
    now = path.stat().st_mtime
    ours = [f".campaign.xlsx.{digits}.new" for digits in ("0123abcd", "deadbeef")]
    others = [
        ".campaign.xlsx.0123abc.new",
        ".campaign.xlsx.0123ABCD.new",
        ".other.xlsx.0123abcd.new",
        "campaign.xlsx.new",
    ]
    for name in (*ours, *others, ".campaign.xlsx.11111111.new"):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (now, now - (30 if "1111" in name else 3600)))
    (tmp_path / ".campaign.xlsx.22222222.new").symlink_to(path)
    sweep(path)
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {*others, ".campaign.xlsx.11111111.new", ".campaign.xlsx.22222222.new", path.name}
    sweep(tmp_path / "absent.xlsx")
