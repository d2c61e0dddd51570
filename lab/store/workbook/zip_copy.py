"""A zip with some entries replaced: every other entry keeps its bytes as they lie in the file, compressed as it was.

The form of the file: PKWARE's APPNOTE.TXT, sections 4.3.7 (local header), 4.3.12 (central directory) and 4.3.16 (its
end). Zip64, which a workbook of this size has no use for, is not taken.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lab.store.workbook.package import Package

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_MARK, _CENTRAL_MARK, _LOCAL_MARK = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
_DESCRIPTOR_FOLLOWS = 0x08  # the flag of an entry whose sizes stand after its data
_DEFLATED, _FAST = 8, 1
_ELSEWHERE = 0xFFFFFFFF  # zip64: the value stands in an extra field
_NEEDED = 20  # the version that can deflate


class NotPlainError(ValueError):
    """The zip is laid out in a way that is not copied: zip64, several disks, bytes in front."""


@dataclass(frozen=True)
class _Entry:
    """One entry: its name, its record in the central directory, and its bytes in the file."""

    name: str
    record: bytes
    begin: int
    end: int


@dataclass(frozen=True)
class _Layout:
    """A zip's entries in the order of its directory, and the end of the file from the end record on."""

    entries: tuple[_Entry, ...]
    tail: bytes

    def bytes_of(self, data: bytes) -> dict[str, bytes]:
        """Each entry's own bytes, local header included."""
        return {entry.name: data[entry.begin : entry.end] for entry in self.entries}


def replaced(package: Package, parts: Mapping[str, bytes], without: Collection[str] = ()) -> bytes:
    """The file with the content of some entries replaced, fast deflated, and `without` others; order and dates stay.

    Raises:
        NotPlainError: the zip cannot be copied entry by entry.
    """
    layout = _layout(package)
    kept = [entry for entry in layout.entries if entry.name not in without]
    made = bytearray()
    records: dict[str, bytes] = {}
    for entry in sorted(kept, key=lambda one: one.begin):
        offset = len(made)
        if entry.name in parts:
            header, record, content = _packed(package.data, entry, parts[entry.name])
            made += header + content
        else:
            record = entry.record
            made += package.data[entry.begin : entry.end]
        records[entry.name] = record[:42] + struct.pack("<L", offset) + record[46:]
    directory = b"".join(records[entry.name] for entry in kept)
    end = list(_END.unpack_from(layout.tail))
    end[3:7] = len(kept), len(kept), len(directory), len(made)
    return bytes(made) + directory + _END.pack(*end) + layout.tail[_END.size :]


def same_but(old: Package, new: Package, parts: Mapping[str, bytes], without: Collection[str] = ()) -> bool:
    """Whether the new file is the old one byte for byte but for `parts`, each by its checksum, and `without` others."""
    before, after = _layout(old), _layout(new)
    stay = [entry for entry in before.entries if entry.name not in without]
    if [entry.name for entry in stay] != [entry.name for entry in after.entries]:
        return False
    kept, found = before.bytes_of(old.data), after.bytes_of(new.data)
    untouched = all(kept[name] == found[name] for name in found if name not in parts)
    records = {entry.name: entry.record for entry in after.entries}
    stated = all(
        one.record[:42] + one.record[46:] == records[one.name][:42] + records[one.name][46:]
        for one in stay
        if one.name not in parts
    )
    return untouched and stated and all(new.part(name) == content for name, content in parts.items())


def _packed(data: bytes, entry: _Entry, content: bytes) -> tuple[bytes, bytes, bytes]:
    """Local header, directory record and compressed content of a replaced entry."""
    packer = zlib.compressobj(_FAST, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(content) + packer.flush()
    checksum, sizes = zlib.crc32(content), (len(packed), len(content))
    old = _LOCAL.unpack_from(data, entry.begin)
    name = data[entry.begin + _LOCAL.size : entry.begin + _LOCAL.size + old[9]]
    flags = old[2] & ~_DESCRIPTOR_FOLLOWS
    # The extra fields of the local header can only repeat what the directory says, or pad.
    header = _LOCAL.pack(_LOCAL_MARK, max(old[1], _NEEDED), flags, _DEFLATED, *old[4:6], checksum, *sizes, len(name), 0)
    record = list(_CENTRAL.unpack_from(entry.record))
    record[2] = max(record[2], _NEEDED)
    record[3:5] = record[3] & ~_DESCRIPTOR_FOLLOWS, _DEFLATED
    record[7:10] = checksum, *sizes
    return header + name, _CENTRAL.pack(*record) + entry.record[_CENTRAL.size :], packed


def _layout(package: Package) -> _Layout:
    data, infos = package.data, package.archive.infolist()
    at_end = data.rfind(_END_MARK)
    if at_end < 0 or at_end + _END.size > len(data):
        raise NotPlainError
    _, disk, first_disk, here, count, size, start, comment = _END.unpack_from(data, at_end)
    whole = at_end + _END.size + comment == len(data) and start + size == at_end
    if disk or first_disk or here != count or count != len(infos) or not whole:
        raise NotPlainError
    found: list[tuple[str, bytes, int]] = []
    at = start
    for info in infos:
        if data[at : at + 4] != _CENTRAL_MARK or at + _CENTRAL.size > at_end:
            raise NotPlainError
        fields = _CENTRAL.unpack_from(data, at)
        after = at + _CENTRAL.size + sum(fields[10:13])
        offset = fields[16]
        if _ELSEWHERE in {fields[8], fields[9], offset} or data[offset : offset + 4] != _LOCAL_MARK:
            raise NotPlainError
        found.append((info.filename, data[at:after], offset))
        at = after
    begins = sorted(offset for _, _, offset in found)
    if at != at_end or not begins or begins[0] != 0 or len(set(begins)) < len(begins):
        raise NotPlainError
    ends = dict(zip(begins, [*begins[1:], start], strict=True))
    return _Layout(tuple(_Entry(name, record, at, ends[at]) for name, record, at in found), data[at_end:])
