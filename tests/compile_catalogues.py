"""Compile the catalogues: `python tests/compile_catalogues.py` writes each `.mo` that differs from its `.po`.

With `--check` nothing is written: exit code 1 and one line for each `.mo` that does not say what its `.po` says. The
comparison is of texts, not of bytes: Babel puts its own version and the time into a compiled file's header.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).resolve().parent.parent / "lab" / "locales"

Texts = dict[str, str | tuple[str, ...]]


def sources(locales: Path = LOCALES) -> tuple[Path, ...]:
    """Every `.po`, in the order of its path."""
    return tuple(sorted(locales.glob("*/LC_MESSAGES/*.po")))


def source(po: Path) -> Catalog:
    """What `po` says, fuzzy entries included; raises babel's `PoFileError` for a file that does not parse."""
    with po.open("rb") as file:
        return read_po(file, locale=po.parent.parent.name, domain=po.stem, abort_invalid=True)


def texts(catalogue: Catalog) -> Texts:
    """Key to text (a tuple of its plural forms where it has them), the header left out."""
    found: Texts = {}
    for message in catalogue:
        key = message.id if isinstance(message.id, str) else message.id[0]
        if key:
            found[key] = message.string if isinstance(message.string, str) else tuple(message.string)
    return found


def compiled(po: Path) -> bytes:
    """The bytes of the `.mo` that `po` compiles to; fuzzy and empty entries have no text, so they are left out."""
    written = io.BytesIO()
    write_mo(written, source(po))
    return written.getvalue()


def stale(po: Path) -> bool:
    """Whether the `.mo` beside `po` is missing, or has other texts or another plural rule."""
    mo = po.with_suffix(".mo")
    if not mo.is_file():
        return True
    wanted, there = read_mo(io.BytesIO(compiled(po))), read_mo(io.BytesIO(mo.read_bytes()))
    return (texts(wanted), wanted.plural_expr) != (texts(there), there.plural_expr)


def orphans(locales: Path = LOCALES) -> tuple[Path, ...]:
    """Every `.mo` without a `.po` beside it."""
    return tuple(sorted(mo for mo in locales.glob("*/LC_MESSAGES/*.mo") if not mo.with_suffix(".po").is_file()))


def main(argv: list[str]) -> int:
    """Compile what is stale, or with `--check` only name it."""
    check = argv == ["--check"]
    if argv and not check:
        sys.stderr.write("usage: python tests/compile_catalogues.py [--check]\n")
        return 2
    found = [po for po in sources() if stale(po)]
    for po in found:
        if not check:
            po.with_suffix(".mo").write_bytes(compiled(po))
        sys.stdout.write(f"{'stale' if check else 'compiled'}: {po.with_suffix('.mo').relative_to(LOCALES)}\n")
    for mo in orphans():
        sys.stdout.write(f"without a .po: {mo.relative_to(LOCALES)}\n")
    return int(check and bool(found or orphans()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
