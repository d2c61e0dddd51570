"""The links and the anchors of pages on the disk, as a browser would follow them."""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What one page links to, the anchors it has, and the words it shows."""

    def __init__(self, path: Path) -> None:
        """Read the page at `path`."""
        super().__init__()
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of a link and the anchor of any element."""
        named = dict(attrs)
        if tag == "a" and named.get("href"):
            self.links.append(str(named["href"]))
        if named.get("id"):
            self.anchors.append(str(named["id"]))


def broken(pages: Iterable[Path], top: Path) -> list[tuple[str, str]]:
    """Links within the site that lead nowhere: to no file, to no anchor, or out of the folder."""
    read = {path.resolve(): Page(path) for path in pages}
    wrong = []
    for path, page in read.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in {"https", "mailto"}:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = read[there].anchors if there in read else []
            holds = there.is_file() and there.is_relative_to(top.resolve()) and not parts.scheme
            if not holds or (parts.fragment and there.suffix == ".html" and unquote(parts.fragment) not in anchors):
                wrong.append((str(path.relative_to(top.resolve())), link))
    return wrong
