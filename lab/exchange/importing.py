"""`lab import`: results measured with other tools become attempts of the campaign, without anything made up.

A file is recognised by its content. Each raw value is one attempt, with the file's sha256 and its place as its name:
the same file again adds nothing. Imported attempts are declared, not verified, until predictions of theirs are judged.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from lab.errors import Fault, InvalidInputError, UsageProblemError, fault
from lab.exchange.imported_record import Made, Origin, Target, against_corpus, imported_record, write_folder
from lab.exchange.sheet_rows import sheet_rows
from lab.exchange.sync import Synced, complete
from lab.formats import Choices, Format, Found, Reading, Source, recognise
from lab.formats.mapping import TARGETS, TableMap, parse_mapping
from lab.formats.units import SIZES, TIMES, Units
from lab.measure.lock import run_lock
from lab.messages import DASH
from lab.model.attempt import OUTCOMES, Attempt, Outcome, Record
from lab.model.campaign import Campaign
from lab.model.names import MANIFEST
from lab.model.reason import Reason
from lab.pipeline import load
from lab.store.attempts import ATTEMPTS, read_records
from lab.store.files import inside, read_text, reading
from lab.store.intake import finish_intake, take_in
from lab.store.manifest import read_manifest

_Done = TypeVar("_Done")


@dataclass(frozen=True)
class Asked:
    """What the person who imports says of the files.

    Attributes:
        variants: a variant's id, or `GROUP=ID` for each thing that a file compares (`results[0]=b1`).
        corpus: the corpus that was processed; None: the only one of the campaign.
        seed: the seed; None: the only one that is planned.
        units: `time=ms`, `memory=MiB`.
        passes: the target whose every value is a pass over the whole corpus.
        ended: how runs ended, where the file does not say.
        mapping: the mapping file of a table.
    """

    variants: tuple[str, ...] = ()
    corpus: str | None = None
    seed: int | None = None
    units: tuple[str, ...] = ()
    passes: str | None = None
    ended: str | None = None
    mapping: Path | None = None


@dataclass(frozen=True)
class ReadFile:
    """One file as it was recognised: how many attempts it gives, how many of them are here already, what it says more.

    `left` are the groups of the file that no variant was named for.
    """

    file: str
    format: str
    tool: str
    version: str | None
    attempts: int
    same: int
    notes: tuple[Reason, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mixed:
    """A variant whose durations on a corpus come from several tools; None stands for this product's own passes."""

    variant: str
    corpus: str
    tools: tuple[str | None, ...]


@dataclass(frozen=True)
class Imported:
    """What an import did, or would do: the files, the new attempts, the workbook afterwards (None: only planned).

    `mixed`: the variants that got durations beside those of another tool, which may not cover the same work.
    """

    files: tuple[ReadFile, ...]
    records: tuple[Record, ...]
    synced: Synced | None
    mixed: tuple[Mixed, ...] = ()


def bring_in(folder: Path, paths: Sequence[Path], asked: Asked, *, plan: bool = False) -> Imported:
    """Take results measured elsewhere into the campaign in `folder`, all of them or none.

    Args:
        folder: the campaign folder.
        paths: the files.
        asked: what is said of them.
        plan: only read and show; nothing is written.

    Raises:
        UsageProblemError: an option means nothing, or names what the campaign does not have.
        InvalidInputError: a file is not recognised, damaged, or holds what cannot be told without a person; every
            fault at once.
        CheckFoundError: a run is under way.
        OutsideFailureError: the disk refused; nothing was taken in.
    """
    choices = _choices(asked)
    read_manifest(folder / MANIFEST)  # no lock is left in a folder that is no campaign
    inside(folder, ATTEMPTS)
    if plan:
        campaign = load(folder, examine=False)
        files, made = _Import(campaign, folder, asked, choices).read(paths)
        records = tuple(one.record for one in made)
        return Imported(files, records, None, _mixed(campaign, records))
    with run_lock(folder):
        finish_intake(folder)
        campaign = load(folder, examine=False)
        files, made = _Import(campaign, folder, asked, choices).read(paths)
        if not made:
            return Imported(files, (), Synced())
        with tempfile.TemporaryDirectory(prefix="lab-import-") as scratch:
            take_in(folder, {one.record.attempt.attempt_id: write_folder(Path(scratch), one) for one in made}, {})
        records = tuple(one.record for one in made)
        return Imported(files, records, complete(folder, {}), _mixed(campaign, records))


def _mixed(campaign: Campaign, new: Sequence[Record]) -> tuple[Mixed, ...]:
    """Where a new duration joins those of another tool: each times other work, and a median would be over all of it."""
    tools: dict[tuple[str, str], dict[str | None, None]] = {}
    for one in (*campaign.records, *new):
        source = one.details.provenance
        if one.attempt.duration_s is not None:
            place = str(one.attempt.variant), str(one.attempt.corpus)
            tools.setdefault(place, {})[None if source is None else source.tool] = None
    touched = {(one.attempt.variant, one.attempt.corpus) for one in new if one.attempt.duration_s is not None}
    return tuple(Mixed(*place, tuple(held)) for place, held in tools.items() if len(held) > 1 and place in touched)


def _choices(asked: Asked) -> Choices:
    units: dict[str, str] = {}
    known = {"time": TIMES, "memory": SIZES}
    for one in asked.units:
        kind, _, unit = one.partition("=")
        if unit not in known.get(kind, ()):
            raise UsageProblemError(fault("import-bad-unit", place="--unit", found=one, times=[*TIMES], sizes=[*SIZES]))
        units[kind] = unit
    if asked.ended is not None and asked.ended not in OUTCOMES:
        raise UsageProblemError(fault("import-bad-end", place="--ended", found=asked.ended, known=list(OUTCOMES)))
    ended: Outcome | None = next((one for one in OUTCOMES if one == asked.ended), None)
    return Choices(Units(**units), asked.passes, ended, None if asked.mapping is None else read_map(asked.mapping))


def read_map(path: Path) -> TableMap:
    """The mapping file at `path`; raises InvalidInputError with every fault of it."""
    return parse_mapping(read_text(path), path.name)


def read_source(path: Path) -> Source:
    """A file with its sha256; raises InvalidInputError when it cannot be read."""
    with reading(path):
        data = path.read_bytes()
    sheet = partial(sheet_rows, data, path.name)
    return Source(path.name, str(path.parent), data, hashlib.sha256(data).hexdigest(), sheet)


class _Import:
    """One import: files are read, each raw value finds its variant, and what is here already is left out."""

    def __init__(self, campaign: Campaign, folder: Path, asked: Asked, choices: Choices) -> None:
        self.campaign = campaign
        self.asked = asked
        self.choices = choices
        self.faults: list[Fault] = []
        self.corpus, self.seed = _planned(campaign, asked)
        self.named = _named(campaign, asked.variants)
        self.held = {
            (one.details.provenance.sha256, one.details.provenance.place): one.attempt
            for one in read_records(folder)
            if one.details.provenance is not None
        }
        self.rounds: dict[tuple[str, str, int | None], int] = {}
        # Who has a round of a variant, corpus and seed; one that was cut off leaves it to another attempt.
        self.slots = {
            (row.variant, row.corpus, row.seed, row.round): row.attempt_id
            for row in (one.attempt for one in campaign.records)
            if row.outcome != "interrupted"
        }
        self.groups: set[str] = set()
        self.taken: list[Made] = []

    def read(self, paths: Sequence[Path]) -> tuple[tuple[ReadFile, ...], tuple[Made, ...]]:
        """The files, and what is new in them.

        Raises:
            InvalidInputError: with every fault of the files.
            UsageProblemError: a part that `--variant` names is in none of them.
        """
        sources: dict[str, Source] = {}
        for path in paths:
            source = self._attempted(lambda path=path: read_source(path))  # type: ignore[misc]  # a bound default
            if source is not None:
                sources.setdefault(source.sha256, source)
        groups: dict[tuple[str, str], tuple[Format, list[Source]]] = {}
        for source in sources.values():
            found = self._attempted(lambda source=source: recognise(source, self.choices))  # type: ignore[misc]  # as above
            if found is not None:
                key = (found.name, source.folder if found.together else source.sha256)
                groups.setdefault(key, (found, []))[1].append(source)
        files = [one for kind, parts in groups.values() if (one := self._file(kind, parts)) is not None]
        unknown = [name for name in self.named if name and name not in self.groups]
        if unknown and {one.slug for one in self.faults} <= {"import-no-variant", "import-several-results"}:
            known = sorted(self.groups - {""}) or DASH
            raise UsageProblemError(fault("import-no-group", place="--variant", found=unknown, known=known))
        if self.faults:
            raise InvalidInputError(*self.faults)
        return tuple(files), tuple(self.taken)

    def _attempted(self, act: Callable[[], _Done]) -> _Done | None:
        try:
            return act()
        except InvalidInputError as error:
            self.faults += error.faults
            return None

    def _file(self, kind: Format, sources: Sequence[Source]) -> ReadFile | None:
        reading_of = self._attempted(lambda: kind.read(sources, self.choices))
        if reading_of is None:
            return None
        source = next((one for one in sources if _is_result(kind, one)), sources[0])
        self.groups |= {one.group for one in reading_of.found}
        places = {one.place for one in reading_of.found}
        other = next(
            (held for (sha256, place), held in self.held.items() if sha256 == source.sha256 and place not in places),
            None,
        )
        if other is not None:  # read another way before: the same measurement would count twice
            self.faults.append(fault("import-read-otherwise", file=source.name, id=other.attempt_id))
            return None
        variants = self._variants(reading_of, source)
        if variants is None:
            return None
        same, taken = 0, 0
        for number, one in enumerate(reading_of.found, 1):
            variant = one.cells.get("variant") or variants.get(one.group)
            if variant is None:
                continue
            taken += 1
            same += self._take(Origin(kind, source, reading_of.version, number), str(variant), one)
        left = tuple(dict.fromkeys(one.group for one in reading_of.found if one.group and one.group not in variants))
        notes = tuple(dict.fromkeys((*reading_of.notes, *(note for one in reading_of.found for note in one.notes))))
        return ReadFile(source.name, kind.name, kind.tool, reading_of.version, taken, same, notes, left)

    def _variants(self, read: Reading, source: Source) -> Mapping[str, str] | None:
        """Group of the file -> variant; None after a fault where that cannot be told."""
        groups = list(dict.fromkeys(one.group for one in read.found))
        if all(one.cells.get("variant") for one in read.found):
            return {}
        if chosen := {name: self.named[name] for name in groups if name in self.named}:
            return chosen
        known = [one.id for one in self.campaign.manifest.variants]
        plain = self.named.get("")
        if plain is None and len(known) == 1:
            plain = known[0]
        if len(groups) > 1:
            of = {one.group: one.facts.get("source.command") or one.group for one in read.found}
            found = [f"{name} ({of[name][:60]})" if of[name] != name else name for name in groups]
            self.faults.append(fault("import-several-results", file=source.name, found=found, first=groups[0]))
            return None
        if plain is None:
            self.faults.append(fault("import-no-variant", file=source.name, known=known))
            return None
        return dict.fromkeys(groups, plain)

    def _take(self, origin: Origin, variant: str, one: Found) -> bool:
        """Make a record of one raw value; whether it is here already."""
        source = origin.source
        if self.campaign.manifest.variant(variant) is None:
            known = [spec.id for spec in self.campaign.manifest.variants]
            facts = {"found": variant, "known": known}
            self.faults.append(fault("import-other-variant", file=source.name, place=one.place, **facts))
            return False
        target = Target(variant, str(one.cells.get("corpus") or self.corpus), one.cells.get("seed", self.seed))
        if target.corpus not in self.campaign.corpora:
            known = list(self.campaign.corpora)
            facts = {"found": target.corpus, "known": known}
            self.faults.append(fault("import-other-corpus", file=source.name, place=one.place, **facts))
            return False
        one = against_corpus(one, self.campaign.corpora[target.corpus].size)
        here = self.held.get((source.sha256, one.place))
        stated = one.cells.get("round")
        number = self._round(target, stated) if here is None else stated or here.round
        made = self._made(one, origin, replace(target, round=number))
        if made is not None and here is not None:
            self._compare(here, made, origin)
        elif made is not None:
            self._claim(made, origin)
            self.taken.append(made)
        return here is not None

    def _made(self, one: Found, origin: Origin, target: Target) -> Made | None:
        language = self.campaign.manifest.language
        return self._attempted(lambda: imported_record(one, origin, target, language))

    def _compare(self, here: Attempt, made: Made, origin: Origin) -> None:
        """A fault where a value that is here already reads otherwise now: another unit, mapping, variant or seed.

        The first of a file tells enough: what was said otherwise was said of all of it.
        """
        place, now, told = made.place, made.record.attempt, ("import-held-elsewhere", "import-held-otherwise")
        if any(one.slug in told and one.file == origin.source.name for one in self.faults):
            return
        if here.variant != now.variant:
            facts = {"id": here.attempt_id, "variant": str(here.variant), "found": str(now.variant)}
            self.faults.append(fault("import-held-elsewhere", file=origin.source.name, place=place, **facts))
            return
        differs = [name for name in TARGETS if name != "notes" and getattr(here, name) != getattr(now, name)]
        if differs:
            held, found = (str(DASH if (value := getattr(row, differs[0])) is None else value) for row in (here, now))
            facts = {"id": here.attempt_id, "column": differs[0], "held": held, "found": found}
            self.faults.append(fault("import-held-otherwise", file=origin.source.name, place=place, **facts))

    def _claim(self, made: Made, origin: Origin) -> None:
        """A fault where another attempt has the round that the file states; a round that was cut off is free."""
        row = made.record.attempt
        slot = (row.variant, row.corpus, row.seed, row.round)
        if row.outcome == "interrupted":
            return
        if slot in self.slots:
            facts = {"round": str(row.round), "variant": str(row.variant), "by": self.slots[slot]}
            self.faults.append(fault("import-round-taken", file=origin.source.name, place=made.place, **facts))
        self.slots.setdefault(slot, made.place)

    def _round(self, target: Target, stated: int | None) -> int:
        """The round that the file states, else the one after the last of this variant, corpus and seed."""
        if target.of not in self.rounds:
            rows = (one.attempt for one in self.campaign.records)
            own = [row.round or 0 for row in rows if (row.variant, row.corpus, row.seed) == target.of]
            self.rounds[target.of] = max(own, default=0)
        number = stated or self.rounds[target.of] + 1
        self.rounds[target.of] = max(number, self.rounds[target.of])
        return number


def _is_result(kind: Format, source: Source) -> bool:
    return not kind.together or "Results Summary" in source.head


def _planned(campaign: Campaign, asked: Asked) -> tuple[str, int]:
    """Corpus and seed of what is imported: those that are named, else the only ones there are."""
    corpora, seeds = [one.id for one in campaign.manifest.corpora], list(campaign.manifest.run.seeds)
    if asked.corpus is None and len(corpora) > 1:
        raise UsageProblemError(fault("import-which-corpus", place="--corpus", known=corpora))
    if asked.corpus is not None and asked.corpus not in corpora:
        raise UsageProblemError(fault("import-other-corpus", place="--corpus", found=asked.corpus, known=corpora))
    if asked.seed is None and len(seeds) > 1:
        raise UsageProblemError(fault("import-which-seed", place="--seed", known=[str(one) for one in seeds]))
    return asked.corpus or corpora[0], seeds[0] if asked.seed is None else asked.seed


def _named(campaign: Campaign, stated: Sequence[str]) -> dict[str, str]:
    """Group -> variant, as `--variant` says; the empty group is a plain id."""
    known = [one.id for one in campaign.manifest.variants]
    found: dict[str, str] = {}
    for one in stated:
        group, _, variant = one.rpartition("=")
        if variant not in known:
            raise UsageProblemError(fault("import-other-variant", place="--variant", found=variant, known=known))
        if found.get(group, variant) != variant:
            raise UsageProblemError(fault("import-variant-twice", place="--variant", found=[found[group], variant]))
        found[group] = variant
    return found
