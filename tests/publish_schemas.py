"""Publish the JSON Schemas: `python tests/publish_schemas.py` writes those in `templates/schemas` that are not current.

With `--check` nothing is written: exit code 1 and one line for each file that does not say what the code says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.report.schema import decision_schema
from lab.store.manifest_schema import manifest_schema

SCHEMAS = Path(__file__).resolve().parent.parent / "templates" / "schemas"


def published() -> Mapping[str, str]:
    """File name -> what it has to say."""
    schemas: dict[str, dict[str, Any]] = {
        "decision.schema.json": decision_schema(),
        "manifest.schema.json": manifest_schema(),
    }
    return {name: json.dumps(schema, ensure_ascii=False, indent=2) + "\n" for name, schema in schemas.items()}


def stale(folder: Path = SCHEMAS) -> tuple[str, ...]:
    """The files that are missing or say something else."""
    return tuple(
        name
        for name, text in published().items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    )


def main(argv: list[str]) -> int:
    """Write what is stale, or with `--check` only name it."""
    found = stale()
    for name in found:
        if argv != ["--check"]:
            (SCHEMAS / name).write_text(published()[name], encoding="utf-8")
        sys.stdout.write(f"{'stale' if argv == ['--check'] else 'published'}: {name}\n")
    return int(argv == ["--check"] and bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
