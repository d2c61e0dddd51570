"""The mark in a workbook's main part that asks for a recalculation when it is opened."""

from __future__ import annotations

import re

from lab.store.workbook.package import Package, plain_xml

_MARK = re.compile(rb"<calcPr\b[^>]*?(/?)>")
_ASKS = re.compile(rb'\sfullCalcOnLoad="(?:1|true)"')
_ANY = re.compile(rb'\sfullCalcOnLoad="[^"]*"')
# What stands before it: sheets, then (where there are some) groups, references and names. ECMA-376 part 1, 18.2.27.
_BEFORE = re.compile(
    rb"</sheets>(?:\s*<(functionGroups|externalReferences|definedNames)\b(?:[^>]*/>|.*?</\1>))*", re.DOTALL
)


def asking(package: Package) -> bytes | None:
    """The main part with the mark; None when it has it.

    Raises:
        ValueError: the part is not in the form in which the mark can be set.
    """
    data = plain_xml(package, package.main)
    mark = _MARK.search(data)
    if mark is None:
        before = _BEFORE.search(data)
        if before is None:
            raise ValueError(package.main)
        return data[: before.end()] + b'<calcPr fullCalcOnLoad="1"/>' + data[before.end() :]
    if _ASKS.search(mark[0]):
        return None
    plain = _ANY.sub(b"", mark[0])
    at = len(b"<calcPr")
    return data[: mark.start()] + plain[:at] + b' fullCalcOnLoad="1"' + plain[at:] + data[mark.end() :]
