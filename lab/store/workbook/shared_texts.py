"""The texts that cells of a workbook share: found at once, each parsed when a cell asks for it."""

from __future__ import annotations

import re

from lab.store.workbook.package import Element, Package, local, parsed, plain_xml, refused

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ITEM = re.compile(rb"<si[\s>/]")
_PREFIXED = re.compile(rb"<[\w.-]+:si[\s>/]")
_PLAIN = re.compile(rb'<si><t(?: xml:space="preserve")?>([^<&]*)</t></si>\s*')
_END = re.compile(rb"</(?:[\w.-]+:)?sst\s*>")


class SharedTexts:
    """The shared texts by their number, from 0; `texts[n]` raises IndexError where there is none."""

    def __init__(self, package: Package, part: str | None) -> None:
        """Find where each text stands in `part`; None: the workbook has none."""
        self._package, self._part = package, part or ""
        self._data = b"" if part is None else plain_xml(package, part)
        item = _ITEM if _ITEM.search(self._data) else _PREFIXED
        self._starts = [found.start() for found in item.finditer(self._data)]
        ends = [found.start() for found in _END.finditer(self._data)]
        self._starts += ends[-1:] if self._starts else []
        self._held: dict[int, str] = {}

    def __getitem__(self, number: int) -> str:
        """One text, its runs joined; raises InvalidInputError for a damaged one."""
        if number not in self._held:
            if not 0 <= number < len(self._starts) - 1:
                raise IndexError(number)
            self._held[number] = unescaped(self._text(*self._starts[number : number + 2]))
        return self._held[number]

    def _text(self, first: int, last: int) -> str:
        item = self._data[first:last]
        plain = _PLAIN.fullmatch(item)
        if plain and b"\r" not in item:
            try:
                return plain[1].decode()
            except UnicodeDecodeError:
                raise refused(self._package.shown, "workbook-damaged", part=self._part) from None
        # Within the start and the end of the part, so that its namespaces hold.
        whole = self._data[: self._starts[0]] + item + self._data[self._starts[-1] :]
        root = parsed(whole, self._package.shown, self._part)
        return "".join(rich(one) for one in root if local(one) == "si")


def unescaped(text: str) -> str:
    """A stored text with the format's own `_x000D_` escapes turned back into their characters."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def rich(element: Element) -> str:
    """The text of a shared or inline string, its runs joined, reading aids (`rPh`) left out."""
    texts = []
    for child in element:
        if local(child) == "t":
            texts.append(child.text or "")
        elif local(child) == "r":
            texts += [one.text or "" for one in child if local(one) == "t"]
    return "".join(texts)
