"""What must not leave a machine with a measurement: names of people and hosts, and the paths that hold them."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

_SHORTEST_HOST = 4  # a host called `pc` would take those letters out of every word


def scrubbed(text: str, folder: Path) -> str:
    """`text` with the campaign folder as `.`, the home folder as `~`, and the host's name taken out."""
    for path, short in ((folder, "."), (folder.resolve(), "."), (Path.home(), "~")):
        if path != Path(path.anchor):
            text = text.replace(str(path), short)
    host = socket.gethostname()
    if len(host) >= _SHORTEST_HOST:
        text = re.sub(rf"(?<!\w){re.escape(host)}(?!\w)", "(host)", text)
    return text


def without_paths(value: str) -> str:
    """A setting's value with each path in it cut to its last part, and `~user` forms gone."""
    return ":".join(os.path.basename(part) if "/" in part else part for part in value.split(":"))  # noqa: PTH119  (text, no path of ours)
