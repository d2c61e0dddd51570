"""On which line each key of a TOML text stands, which the standard library's reader does not tell."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:(?P<bare>[A-Za-z0-9_-]+)|(?P<quoted>"(?:\\.|[^"\\\n])*"|'[^'\n]*'))[ \t]*""")
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'''',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every key, table and list item of `text`, by its path such as `("variants", 2, "batch_size")`.

    `text` must be valid TOML, newlines as line ends: it is scanned, not checked. The first line counts where several
    lines make one table.
    """
    return _Scan(text).run()


@dataclass
class _Scan:
    text: str
    at: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    lists: dict[KeyPath, int] = field(default_factory=dict)  # path of a list of tables -> how many there are so far

    def run(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._skip_blank():
            if self.text.startswith("[[", self.at):
                table = self._header(2, self._keys_after(2))
            elif self.text[self.at] == "[":
                table = self._header(1, self._keys_after(1))
            else:
                self._pair(table)
        return self.lines

    def _skip_blank(self) -> bool:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at < len(self.text)

    def _note(self, path: KeyPath, start: int) -> None:
        line = self.text.count("\n", 0, start) + 1
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _keys_after(self, brackets: int) -> tuple[str, ...]:
        self.at += brackets
        return self._keys()

    def _keys(self) -> tuple[str, ...]:
        keys: list[str] = []
        while found := _KEY.match(self.text, self.at):
            self.at = found.end()
            quoted = found["quoted"]
            keys.append(next(iter(tomllib.loads(f"{quoted}=0"))) if quoted else found["bare"])
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return tuple(keys)

    def _header(self, brackets: int, keys: tuple[str, ...]) -> KeyPath:
        start = self.at
        path: KeyPath = ()
        for place, key in enumerate(keys, 1):
            path = (*path, key)
            if brackets == 2 and place == len(keys):  # noqa: PLR2004  (`[[...]]` opens one more item of its list)
                self.lists[path] = self.lists.get(path, 0) + 1
            if path in self.lists:
                path = (*path, self.lists[path] - 1)
        self._note(path, start)
        self.at += brackets
        return path

    def _pair(self, table: KeyPath) -> None:
        start = self.at
        path = (*table, *self._keys())
        self._note(path, start)
        self.at += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip_blank()
        opening = self.text[self.at]
        if opening in "[{":
            self._members(path, "]" if opening == "[" else "}")
        else:
            pattern = _STRING if opening in "\"'" else _SCALAR
            found = pattern.match(self.text, self.at)
            self.at = found.end() if found else len(self.text)

    def _members(self, path: KeyPath, closing: str) -> None:
        self.at += 1
        count = 0
        while self._skip_blank() and self.text[self.at] != closing:
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "}":
                self._pair(path)
            else:
                self._note((*path, count), self.at)
                self._value((*path, count))
                count += 1
        self.at += 1
