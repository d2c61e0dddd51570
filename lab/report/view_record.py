"""Exclusions, protocol, environment, integrity and limits, as sections of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from lab.messages import DASH
from lab.model.protocol import PROTOCOL_FIELDS
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Pair, Pairs, Prose, Section, Table, Text
from lab.report.document_plain import Json
from lab.report.paging import ALL_IN_THE_PAGE, FIRST, Stack, table, tools
from lab.report.words import Words

_STACK = ("python", "torch", "transformers", "tokenizers", "safetensors", "numpy")  # what a reader looks for first


def exclusions(document: Json, words: Words) -> Section | None:
    """What is left out of the figures and by which rule; None when nothing is."""
    if not document["exclusions"]:
        return None
    found = document["exclusions"]
    attempt, rule, reason = (Column(words.text(f"column.{name}")) for name in ("attempt", "rule", "reason"))
    attested = words.text("attested")
    stacks = (
        Stack(attempt, [one["attempt_id"] for one in found], mono=True),
        Stack(rule, [one["rule"] or DASH for one in found], [attested if one["attested"] else None for one in found]),
        Stack(reason, [words.say(one) for one in found]),
    )
    controls = tools(words) if len(found) > FIRST else None
    shown = table("exclusions-table", words.text("exclusions.caption"), stacks, controls, words)
    return Section("exclusions", words.text("exclusions.title"), words.text("exclusions.intro"), (shown,))


def protocol(document: Json, words: Words) -> Section:
    """What was decided before measuring, field by field."""
    declared = document["protocol"]
    pairs = tuple(
        Pair(words.shared(f"field.{one.name}.label"), _field(one.name, declared, words))
        for one in PROTOCOL_FIELDS
        if declared[one.name] not in (None, [], "") and one.name not in ("question", "notes")
    )
    left = [words.shared(f"field.{one.name}.label") for one in PROTOCOL_FIELDS if declared[one.name] in (None, [], "")]
    blocks: list[Block] = [Pairs(pairs, wide=True)]
    if left:
        blocks.append(Text(words.text("colon", before=words.text("protocol.empty"), after=", ".join(left))))
    changes = (document["sealing"] or {"changes": []})["changes"]
    if changes:
        columns = tuple(Column(words.text(f"column.{name}")) for name in ("name", "sealed", "now"))
        rows = tuple(
            (Cell(one["name"], mono=True), *(Cell(words.value(one[name]), mono=True) for name in ("sealed", "now")))
            for one in changes
        )
        blocks.append(Table("seal-changes", words.text("protocol.changes"), columns, rows))
    if document["amendments"]:
        blocks.append(_amendments(document["amendments"], words))
    return Section("protocol", words.text("protocol.title"), words.text("protocol.intro"), tuple(blocks))


def _amendments(found: list[Json], words: Words) -> Table:
    """Each amendment: when, why, what was changed, and what was known of the attempts at that moment."""
    columns = tuple(Column(words.text(f"column.{name}")) for name in ("amended_at", "why_amended", "changed", "known"))
    rows = tuple(
        (
            Cell(words.moment(one["amended_at"]), sort=one["amended_at"]),
            Cell(one["reason"]),
            Cell(_changes(one["changes"]), words.text("amendment.fails") if one["fails_seal"] else None),
            Cell(_known(one["known"], words), _ids(one["known"]["attempts"])),
        )
        for one in found
    )
    return Table("amendments", words.text("protocol.amendments"), columns, rows)


def _ids(attempts: list[Json]) -> str | None:
    return ", ".join(one["attempt_id"] for one in attempts) or None


def _changes(found: list[Json]) -> str:
    return "; ".join(f"{one['name']} {one['sealed'] or DASH} → {one['now'] or DASH}" for one in found)


def _known(known: Json, words: Words) -> str:
    """How many attempts were known, how they had ended and what had been judged of them."""
    number = len(known["attempts"])
    if not number:
        return words.text("amendment.none_known")
    counted = {f"outcome.{name}": n for name, n in known["outcomes"].items()}
    counted |= {f"verdictword.{name}": n for name, n in known["verdicts"].items()}
    said = [words.text("colon", before=words.shared(key), after=str(n)) for key, n in counted.items()]
    return "; ".join([words.count("amendment.known", number), *said])


def author(document: Json, words: Words) -> Section | None:
    """The author's own words; None when there are none."""
    written = document["author_notes"]
    language = words.language if words.language in written else document["language"]
    blocks: list[Block] = []
    if language in written:
        blocks.append(Prose(written[language], language))
    if document["protocol"]["notes"]:
        blocks.append(Prose(document["protocol"]["notes"], document["language"]))
    if not blocks:
        return None
    return Section("author", words.text("author.title"), words.text("author.intro"), tuple(blocks))


def environment(document: Json, words: Words) -> Section:
    """Machines as observed, and every setting in which variants differ."""
    blocks: list[Block] = []
    different, names = document["settings"]["different"], [one["id"] for one in document["variants"]]
    if different:
        columns = (Column(words.text("column.setting")), *(Column(name) for name in names))
        rows = tuple(
            (Cell(key, mono=True), *_marked([words.value(values.get(name)) for name in names]))
            for key, values in different.items()
        )
        marked = any(cell.state for row in rows for cell in row)
        caption = words.text("environment.different") + (f" {words.text('environment.marked')}" if marked else "")
        blocks.append(Table("settings", caption, columns, rows))
    outside = document["settings"]["outside_series"]
    if len(outside) > 1:
        blocks.append(Text(words.text("environment.whole", names=words.all_of(outside))))
    shared = tuple(Pair(key, words.value(value), mono=True) for key, value in document["settings"]["shared"].items())
    blocks.append(Fold(words.text("environment.shared"), (Pairs(shared),)))
    blocks += _machines(document, words)
    return Section("environment", words.text("environment.title"), words.text("environment.intro"), tuple(blocks))


def integrity(document: Json, words: Words) -> Section:
    """The seal and the fingerprint of every file that the decision was made from."""
    sealing = document["sealing"]
    pairs = [
        Pair(
            words.text("integrity.seal"),
            document["seal"] or words.text("integrity.no_seal"),
            mono=bool(document["seal"]),
        )
    ]
    if sealing:
        pairs.append(Pair(words.text("integrity.sealed_at"), words.moment(sealing["sealed_at"])))
    pairs += [
        Pair(words.text("integrity.corpus", corpus=one["id"]), one["sha256"], mono=True) for one in document["corpora"]
    ]
    columns = (Column(words.text("column.file")), Column("sha256"))
    inputs = document["inputs"]
    # Thousands of attempts have their fingerprints in decision.json; each row above has that of its predictions.
    apart = [path for path in inputs if path.startswith("attempts/")] if len(inputs) > ALL_IN_THE_PAGE else []
    listed = {path: digest for path, digest in inputs.items() if not path.startswith("attempts/")} if apart else inputs
    rows = tuple((Cell(path, mono=True), Cell(digest, mono=True)) for path, digest in listed.items())
    table = Table("inputs", words.text("integrity.caption"), columns, rows)
    elsewhere = (Text(words.text("integrity.elsewhere", n=len(apart))),) if apart else ()
    blocks: tuple[Block, ...] = (
        Pairs(tuple(pairs), wide=True),
        Text(words.text("integrity.how")),
        Fold(words.count("integrity.files", len(inputs)), (table, *elsewhere)),
    )
    return Section("integrity", words.text("integrity.title"), words.text("integrity.intro"), blocks)


def limits(document: Json, words: Words) -> Section:
    """What the answer covers, what it does not, what would change it, and everything noticed on the way."""
    lists = [
        (words.text("limits.covers"), [words.say(one) for one in document["limits"]["covers"]]),
        (words.text("limits.not"), [words.say(one) for one in document["limits"]["does_not_cover"]]),
        (words.text("limits.next"), [words.say(one) for one in document["decision"]["next_steps"]]),
        (words.text("limits.warnings"), _warnings(document, words)),
        (words.text("limits.notices"), [words.say_fault(one) for one in document["notices"]]),
    ]
    blocks = tuple(Lines(tuple(Line(one) for one in lines), lead) for lead, lines in lists if lines)
    return Section("limits", words.text("limits.title"), words.text("limits.intro"), blocks)


def _field(name: str, declared: Json, words: Words) -> str:  # noqa: PLR0911  (one return a field reads best)
    value = declared[name]
    if name == "subgroup_thresholds":
        return "; ".join(f"{one['group']} = {one['value']}: {words.messages.number(one['threshold'])}" for one in value)
    if name == "exclusion_rules":
        return "; ".join(_rule(one, words) for one in value)
    if name == "deadline":
        return words.moment(value)
    if name == "metric":
        said, code = words.metric(value)
        return said if code is None else f"{said} ({code})"
    if name == "reproducibility_target":
        return words.text(f"choice.{value}")
    if name == "budget_limit":
        return words.price(value, declared["currency"], example=False)
    return words.value(value)


def _rule(one: Json, words: Words) -> str:
    if one["column"] is None:
        return words.text("rule.attestation", id=one["id"])
    return f"{one['id']}: {one['column']} {one['operator']} {one['value']}"


def _machines(document: Json, words: Words) -> tuple[Block, ...]:
    """Facts in which machines differ, in sight; everything observed, folded."""
    machines = document["environments"]
    if not machines:
        return (Text(words.text("environment.none")),)
    keys = sorted({key for one in machines for key in one["facts"]})
    differing = [key for key in keys if len({one["facts"].get(key) for one in machines}) > 1]
    columns = (
        Column(words.text("column.fact")),
        *(Column(one["fingerprint"], words.all_of(one["variants"]) or None) for one in machines),
    )
    devices = (
        Cell(words.text("environment.devices")),
        *_marked([", ".join(one["device_names"]) or DASH for one in machines]),
    )
    rows = {key: (Cell(key, mono=True), *_marked([one["facts"].get(key) or DASH for one in machines])) for key in keys}
    # A hundred library versions that are the same everywhere are a paragraph, not a hundred rows.
    packages = [key for key in keys if "." not in key and key not in _STACK and key not in differing]
    shown = tuple(row for key, row in rows.items() if key not in packages)
    whole = Table("machines", words.text("environment.caption"), columns, (devices, *shown))
    versions = ", ".join(f"{key} {machines[0]['facts'][key]}" for key in packages)
    others = (Text(words.text("environment.packages", versions=versions)),) if packages else ()
    fold = Fold(words.count("environment.machines", len(machines)), (whole, *others))
    if not differing:
        return (fold,)
    apart = tuple(rows[key] for key in differing)
    return (Table("machines-differ", words.text("environment.differ"), columns, (devices, *apart)), fold)


def _marked(values: Sequence[str]) -> tuple[Cell, ...]:
    """One row of values side by side; what differs from more than half of them is marked, if there is such a half."""
    usual, times = Counter(values).most_common(1)[0]
    marked = times * 2 > len(values)
    return tuple(Cell(value, state="other" if marked and value != usual else None) for value in values)


def _warnings(document: Json, words: Words) -> list[str]:
    own = [words.say(one) for one in document["decision"]["warnings"]]
    by_text: dict[str, list[str]] = {}
    for variant in document["variants"]:
        for one in variant["warnings"]:
            by_text.setdefault(words.say(one), []).append(variant["id"])
    of_variants = [words.said_of(said, names) for said, names in by_text.items()]
    declared = sum(1 for one in document["attempts"] if one["declared"] and not one["provenance"])
    changed = [words.count("limits.declared", declared)] if declared else []
    return own + of_variants + changed


def latest(document: Json) -> datetime | None:
    """The start of the latest attempt."""
    return datetime.fromisoformat(document["date"]) if document["date"] else None
