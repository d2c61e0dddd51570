"""Attempts, exclusions, protocol, environment, integrity, limits and glossary, as sections of the page."""

from __future__ import annotations

from datetime import datetime

from lab.messages import DASH
from lab.model.protocol import PROTOCOL_FIELDS
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Pair, Pairs, Prose, Section, Table, Text, Tools
from lab.report.document_plain import Json
from lab.report.words import Words

_TERMS = (
    "campaign", "protocol", "variant", "corpus", "pass", "round", "attempt", "outcome", "verdict", "validated_corpus",
    "deliverable", "median", "separated", "package", "lot", "committed", "window", "planning", "seal", "warm_up",
)  # fmt: skip
_ATTEMPT_COLUMNS = (
    ("attempt", False), ("variant", False), ("corpus", False), ("round", True), ("outcome", False), ("verdict", False),
    ("completed_inputs", True), ("duration", True), ("elapsed", True), ("metric_value", True), ("why", False),
)  # fmt: skip
_SECONDS = ("duration", "elapsed")
_STATE = {"accepted": "passed", "rejected": "failed", "unassessed": "unknown"}

_STACK = ("python", "torch", "transformers", "tokenizers", "safetensors", "numpy")  # what a reader looks for first


def attempts(document: Json, words: Words) -> Section:
    """Every attempt, failures like the others, with what decided its verdict."""
    title, intro = words.text("attempts.title"), words.text("attempts.intro")
    if not document["attempts"]:
        return Section("attempts", title, intro, (Text(words.text("attempts.none")),))
    several = len(document["corpora"]) > 1
    columns = tuple(
        Column(words.text(f"column.{name}"), "s" if name in _SECONDS else None, numeric=numeric)
        for name, numeric in _ATTEMPT_COLUMNS
        if several or name != "corpus"
    )
    sizes = {one["id"]: one["size"] for one in document["corpora"]}
    duration = words.seconds([one["duration_s"] for one in document["attempts"]])
    elapsed = words.seconds([one["elapsed_s"] for one in document["attempts"]])
    rows = tuple(
        (
            Cell(one["attempt_id"], words.moment(one["started_at"]), mono=True, sort=one["started_at"]),
            Cell(one["variant"] or DASH),
            *((Cell(one["corpus"] or DASH),) if several else ()),
            Cell(words.messages.number(one["round"], 0), sort=_order(one["round"])),
            Cell(_outcome(one, words)),
            Cell(words.shared(f"verdictword.{one['corpus_accepted']}") if one["corpus_accepted"] else DASH,
                 state=_STATE.get(one["corpus_accepted"] or "")),
            Cell(_completed(one, sizes, words), sort=_order(one["completed_inputs"])),
            Cell(duration(one["duration_s"]), sort=_order(one["duration_s"])),
            Cell(elapsed(one["elapsed_s"]), sort=_order(one["elapsed_s"])),
            Cell(words.ratio(one["metric_value"]), sort=_order(one["metric_value"])),
            Cell(_why(one, words), one["notes"]),
        )
        for one in document["attempts"]
    )  # fmt: skip
    tools = Tools(*(words.text(f"tools.{name}") for name in ("filter", "shown", "sort", "more", "empty")))
    table = Table("attempts-table", words.text("attempts.caption"), columns, rows, tools)
    return Section("attempts", title, intro, (table, Text(words.text("attempts.evidence"))))


def exclusions(document: Json, words: Words) -> Section | None:
    """What is left out of the figures and by which rule; None when nothing is."""
    if not document["exclusions"]:
        return None
    columns = tuple(Column(words.text(f"column.{name}")) for name in ("attempt", "rule", "reason"))
    rows = tuple(
        (
            Cell(one["attempt_id"], mono=True),
            Cell(one["rule"] or DASH, words.text("attested") if one["attested"] else None),
            Cell(words.say(one)),
        )
        for one in document["exclusions"]
    )
    table = Table("exclusions-table", words.text("exclusions.caption"), columns, rows)
    return Section("exclusions", words.text("exclusions.title"), words.text("exclusions.intro"), (table,))


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
            (Cell(one["name"], mono=True), Cell(words.value(one["sealed"])), Cell(words.value(one["now"])))
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
            (Cell(key, mono=True), *(Cell(words.value(values.get(name))) for name in names))
            for key, values in different.items()
        )
        blocks.append(Table("settings", words.text("environment.different"), columns, rows))
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
    rows = tuple((Cell(path, mono=True), Cell(digest, mono=True)) for path, digest in document["inputs"].items())
    table = Table("inputs", words.text("integrity.caption"), columns, rows)
    blocks: tuple[Block, ...] = (
        Pairs(tuple(pairs), wide=True),
        Text(words.text("integrity.how")),
        Fold(words.count("integrity.files", len(rows)), (table,)),
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


def glossary(words: Words) -> Section:
    """The words of the page."""
    pairs = tuple(Pair(words.text(f"term.{one}"), words.text(f"term.{one}.text")) for one in _TERMS)
    return Section("glossary", words.text("glossary.title"), words.text("glossary.intro"), (Pairs(pairs, wide=True),))


def _order(value: float | None) -> str:
    return "" if value is None else repr(value)


def _outcome(one: Json, words: Words) -> str:
    shown = words.shared(f"outcome.{one['outcome']}") if one["outcome"] else words.text("running")
    return words.text("declared_only", outcome=shown) if one["declared"] else shown


def _completed(one: Json, sizes: dict[str, int], words: Words) -> str:
    done, expected = one["completed_inputs"], sizes.get(one["corpus"])
    if done is None:
        return DASH
    return words.text("of", part=done, whole=expected) if expected is not None else words.messages.number(done, 0)


def _why(one: Json, words: Words) -> str:
    parts = [words.say(one["ended_because"])] if one["ended_because"] else []
    if (
        one["verdict"]
        and one["verdict"]["verdict"] != "accepted"
        and not (one["ended_because"] and one["verdict"]["control"] == "outcome")
    ):
        parts.append(words.say(one["verdict"]))
    if one["excluded"]:
        parts.append(words.text("left_out"))
    return " ".join(parts) or DASH


def _field(name: str, declared: Json, words: Words) -> str:
    value = declared[name]
    if name == "subgroup_thresholds":
        return "; ".join(f"{one['group']} = {one['value']}: {words.messages.number(one['threshold'])}" for one in value)
    if name == "exclusion_rules":
        return "; ".join(_rule(one, words) for one in value)
    if name == "deadline":
        return words.moment(value)
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
        *(Cell(", ".join(one["device_names"]) or DASH) for one in machines),
    )
    rows = {key: (Cell(key, mono=True), *(Cell(one["facts"].get(key) or DASH) for one in machines)) for key in keys}
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


def _warnings(document: Json, words: Words) -> list[str]:
    own = [words.say(one) for one in document["decision"]["warnings"]]
    by_text: dict[str, list[str]] = {}
    for variant in document["variants"]:
        for one in variant["warnings"]:
            by_text.setdefault(words.say(one), []).append(variant["id"])
    of_variants = [words.said_of(said, names) for said, names in by_text.items()]
    declared = sum(1 for one in document["attempts"] if one["declared"])
    changed = [words.count("limits.declared", declared)] if declared else []
    return own + of_variants + changed


def latest(document: Json) -> datetime | None:
    """The start of the latest attempt."""
    return datetime.fromisoformat(document["date"]) if document["date"] else None
