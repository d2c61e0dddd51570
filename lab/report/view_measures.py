"""Durations, quality, phases and memory: what was measured, as sections of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from lab.messages import DASH
from lab.report.blocks import Block, Cell, Column, Fold, Line, Lines, Section, Table, Text
from lab.report.charts import charts_of
from lab.report.charts.durations import counts, lost_word
from lab.report.charts.ranges import crowded, ranges
from lab.report.document_measured import COUNTERS, PHASES
from lab.report.document_plain import Json, named
from lab.report.paging import ALL_IN_THE_PAGE
from lab.report.scopes import scopes
from lab.report.view_confusions import confusions
from lab.report.words import Words


def durations(document: Json, words: Words) -> Section:
    """The chart, the figures behind it with their counts and warnings, and what is separated."""
    blocks: list[Block] = [*charts_of("durations", document, words), _summaries(document, words)]
    blocks.append(Text(words.text("durations.interval")))
    blocks += _apart(document["separations"], "durations.separations", named(document["decision"]), words)
    sides = [side for one in document["separations"] for side in (one["ratio"], one["paired"]) if side]
    if sides:
        lines = tuple(Line(words.say(one)) for one in sides)
        blocks.append(Fold(words.text("durations.paired"), (Lines(lines),)))
    blocks += _with_excluded(document, words)
    blocks.append(Fold(words.text("show_numbers"), _numbers(document, words)))
    return Section("durations", words.text("durations.title"), words.text("durations.intro"), tuple(blocks))


def quality(document: Json, words: Words) -> Section:
    """The metric against its threshold and tolerance, then the subgroups, then the confusion matrices."""
    numeric = ("assessed", "metric_median", "metric_lowest", "metric_highest", "threshold", "delta", "tolerance")
    columns = (
        *_where(document, words),
        Column(words.text("column.metric")),
        *(Column(words.text(f"column.{one}"), numeric=True) for one in numeric),
    )
    rows = tuple(_quality_row(one, document, words) for one in document["quality"])
    reference = document["protocol"]["reference_variant"]
    caption = (
        words.text("quality.caption")
        if reference is None
        else words.text("quality.caption.reference", reference=reference)
    )
    blocks: list[Block] = [*charts_of("quality", document, words), Table("quality", caption, columns, rows)]
    subgroups = tuple(
        (
            *_place(one, document, words),
            Cell(f"{part['group']} = {part['value']}"),
            Cell(words.messages.number(part["inputs"], 0)),
            Cell(words.ratio(part["lowest"])),
            Cell(words.ratio(part["highest"])),
            Cell(words.ratio(part["threshold"]), None if part["threshold"] is not None else words.text("no_threshold")),
        )
        for one in document["quality"] for part in one["subgroups"]
    )  # fmt: skip
    if subgroups:
        columns = (
            *_where(document, words),
            Column(words.text("column.subgroup")),
            *(
                Column(words.text(f"column.{one}"), numeric=True)
                for one in ("inputs", "metric_lowest", "metric_highest", "threshold")
            ),
        )
        blocks.append(Table("subgroups", words.text("subgroups.caption"), columns, subgroups))
    blocks += confusions(document, words)
    return Section("quality", words.text("quality.title"), words.text("quality.intro"), tuple(blocks))


def phases(document: Json, words: Words) -> Section:
    """What a pass costs in time beside the measured part."""
    columns = (
        *_where(document, words),
        *(Column(words.text(f"phase.{name}"), "s", numeric=True) for name in (*PHASES, "elapsed_total_s")),
    )
    writers = {name: words.seconds([one["phases"][name]["median_s"] for one in document["phases"]]) for name in PHASES}
    total = words.seconds([one["elapsed_total_s"] for one in document["phases"]])
    rows, reasons = [], []
    for one in document["phases"]:
        cells = [Cell(writers[name](one["phases"][name]["median_s"])) for name in PHASES]
        cells.append(Cell(total(one["elapsed_total_s"]), words.count("of_attempts", one["attempts"])))
        rows.append((*_place(one, document, words), *cells))
        reasons += [
            (words.text(f"phase.{name}"), _why_no_phase(one, name, words))
            for name in PHASES
            if one["phases"][name]["median_s"] is None
        ]
    blocks: list[Block] = [Table("phases", words.text("phases.caption"), columns, tuple(rows))]
    if reasons:
        blocks.append(Lines(_grouped(reasons, words), words.text("empty_cells")))
    return Section("phases", words.text("phases.title"), words.text("phases.intro"), tuple(blocks))


def memory(document: Json, words: Words) -> Section:
    """Peaks of each counter on each device; a counter that does not exist there says why."""
    columns = (
        *_where(document, words),
        Column(words.text("column.device")),
        *(Column(words.text(f"memory.{name}"), numeric=True) for name in (*COUNTERS, "host_peak_bytes")),
    )
    rows, reasons = [], []
    for one in document["memory"]:
        devices = one["devices"] or [{"device": DASH, "names": [], **dict.fromkeys(COUNTERS)}]
        for device in devices:
            cells = [Cell(words.size(device[name])) for name in COUNTERS]
            named = Cell(device["device"], ", ".join(device["names"]) or None)
            rows.append((*_place(one, document, words), named, *cells, Cell(words.size(one["host_peak_bytes"]))))
            reasons += [
                (words.text(f"memory.{name}"), _why(one["missing"][name], words))
                for name in COUNTERS
                if device[name] is None
            ]
    blocks: list[Block] = [Table("memory", words.text("memory.caption"), columns, tuple(rows))]
    covered = scopes(document, words)
    if covered:
        blocks.append(Lines(covered, words.text("memory.scopes")))
    if reasons:
        blocks.append(Lines(_grouped(reasons, words), words.text("empty_cells")))
    return Section("memory", words.text("memory.title"), words.text("memory.intro"), tuple(blocks))


def _where(document: Json, words: Words) -> tuple[Column, ...]:
    several = (("corpus", len(document["corpora"]) > 1), ("seed", len(document["run"]["seeds"]) > 1))
    return (
        Column(words.text("column.variant")),
        *(Column(words.text(f"column.{name}")) for name, more in several if more),
    )


def _place(one: Json, document: Json, words: Words) -> tuple[Cell, ...]:
    corpus = (Cell(one["corpus"]),) if len(document["corpora"]) > 1 else ()
    seed = (Cell(DASH if one["seed"] is None else str(one["seed"])),) if len(document["run"]["seeds"]) > 1 else ()
    return (Cell(one["variant"], words.short(one["variant"])), *corpus, *seed)


def _summaries(document: Json, words: Words) -> Table:
    all_of_them = [(variant["id"], one) for variant in document["variants"] for one in variant["summaries"]]
    write = words.seconds([one[name] for _, one in all_of_them for name in ("median_s", "min_s", "max_s")])
    columns = (
        *_where(document, words),
        Column(words.text("column.counted"), numeric=True),
        *(
            Column(words.text(f"column.{name}"), "s", numeric=True)
            for name in ("median", "median_interval", "min", "max")
        ),
        Column(words.text("column.lost")),
        Column(words.text("column.remarks")),
    )
    rows = []
    for variant, one in all_of_them:
        lost = [
            words.count(f"lost.{kind}", one[kind])
            for kind in ("failed", "rejected", "unassessed", "excluded")
            if one[kind]
        ]
        rows.append(
            (
                *_place({"variant": variant, **one}, document, words),
                Cell(words.text("of", part=one["accepted"], whole=one["attempts"])),
                Cell(write(one["median_s"])),
                _interval(one["median_interval"], write, words),
                *(Cell(write(one[name])) for name in ("min_s", "max_s")),
                Cell(", ".join(lost) or words.text("none")),
                Cell(" ".join(words.say(warning) for warning in one["warnings"]) or DASH),
            )
        )
    return Table("summaries", words.text("durations.caption"), columns, tuple(rows))


def _interval(one: Json, write: Callable[[float | None], str], words: Words) -> Cell:
    facts = one["message"]["values"]
    if one["low"] is None:
        return Cell(DASH, words.text("interval.too_few", present=facts["present"], needed=facts["needed"]))
    between = words.text("interval.between", low=write(one["low"]), high=write(one["high"]))
    return Cell(between, words.text("interval.coverage", percent=facts["percent"]))


def _apart(separations: Sequence[Json], lead: str, named: Sequence[str], words: Words) -> list[Block]:
    """One line a pair that is shown; what qualifies the comparison stands in the same line.

    `named`: the variants that the answer is about, to say which pairs of very many are shown.
    """
    if not separations:
        return []
    shown = [one for one in separations if one["shown"]]
    lines = (" ".join(words.say(said) for said in (one, *one["warnings"])) for one in shown)
    blocks: list[Block] = [Lines(tuple(Line(line) for line in lines), words.text(lead))]
    if len(shown) == len(separations):
        return blocks
    counts = {"shown": len(shown), "pairs": len(separations)}
    if len(named) == 1:
        return [*blocks, Text(words.text("durations.some_pairs.one", variant=words.variant(named[0]), **counts))]
    return [*blocks, Text(words.text("durations.some_pairs.several" if named else "durations.some_pairs", **counts))]


def _with_excluded(document: Json, words: Words) -> list[Block]:
    """The figures and the comparisons with the attempts that a rule left out; nothing when there are none."""
    kept = [(v["id"], one, one["with_excluded"]) for v in document["variants"] for one in v["summaries"]]
    kept = [found for found in kept if found[2]]
    if not kept:
        return []
    write = words.seconds([figures[name] for _, _, figures in kept for name in ("median_s", "min_s", "max_s")])
    columns = (
        *_where(document, words),
        Column(words.text("column.with_excluded"), numeric=True),
        *(Column(words.text(f"column.{name}"), "s", numeric=True) for name in ("median", "min", "max")),
    )
    rows = tuple(
        (
            *_place({"variant": variant, **one}, document, words),
            Cell(words.messages.number(figures["passes"], 0)),
            *(Cell(write(figures[name])) for name in ("median_s", "min_s", "max_s")),
        )
        for variant, one, figures in kept
    )
    table = Table("with-excluded", words.text("durations.with_excluded.caption"), columns, rows)
    then = document["decision"]["with_excluded"]
    return [
        table,
        *_apart(then["separations"], "durations.with_excluded.apart", named(then), words),
    ]


def _numbers(document: Json, words: Words) -> tuple[Block, ...]:
    """The numbers behind the chart: every duration, or of very many those that the chart draws."""
    if len(document["attempts"]) <= ALL_IN_THE_PAGE:
        return (_raw(document, words),)
    return (Text(words.text("durations.raw.elsewhere")), *_ranges(document, words))


def _ranges(document: Json, words: Words) -> tuple[Block, ...]:
    """How many passes lie in each range, of the variants that the chart draws as an area."""
    groups = [
        (variant["id"], one, [value for value in one["durations_s"] if value is not None])
        for variant in document["variants"] for one in variant["summaries"]
    ]  # fmt: skip
    totals = Counter[tuple[str, int | None]]()
    for _, one, values in groups:
        totals[one["corpus"], one["seed"]] += len(values)
    groups = [one for one in groups if crowded(one[2], totals[one[1]["corpus"], one[1]["seed"]])]
    if not groups:
        return ()
    write = words.seconds([value for _, _, values in groups for value in values])
    columns = (
        *_where(document, words),
        *(Column(words.text(f"column.{name}"), "s", numeric=True) for name in ("from", "to")),
        Column(words.text("column.passes_there"), numeric=True),
    )
    rows = tuple(
        (*_place({"variant": variant, **one}, document, words), Cell(write(low)), Cell(write(high)),
         Cell(words.messages.number(number, 0)))
        for variant, one, values in groups for low, high, number in ranges(values)
    )  # fmt: skip
    return (Table("ranges", words.text("durations.ranges.caption"), columns, rows),)


def _raw(document: Json, words: Words) -> Table:
    shown = [one for one in document["attempts"] if one["outcome"]]
    write = words.seconds([one["duration_s"] for one in shown])
    columns = (
        *_where(document, words),
        Column(words.text("column.round"), numeric=True),
        Column(words.text("column.duration"), "s", numeric=True),
        Column(words.text("column.counts")),
    )
    rows = tuple(
        (
            *_place(one, document, words),
            Cell(words.messages.number(one["round"], 0)),
            Cell(write(one["duration_s"])),
            Cell(words.text("yes") if counts(one) else words.text("no_because", why=lost_word(one, words))),
        )
        for one in shown
    )
    return Table("raw-durations", words.text("durations.raw.caption"), columns, rows)


def _quality_row(one: Json, document: Json, words: Words) -> tuple[Cell, ...]:
    return (
        *_place(one, document, words),
        Cell(*words.metric(one["metric"])),
        Cell(words.text("of", part=one["assessed"], whole=one["attempts"])),
        Cell(words.ratio(one["median"]), None if one["median"] is not None else words.text("no_metric")),
        Cell(words.ratio(one["lowest"])),
        Cell(words.ratio(one["highest"])),
        Cell(words.ratio(one["threshold"]), None if one["threshold"] is not None else words.text("no_threshold")),
        Cell(words.ratio(one["delta"]), None if one["delta"] is not None else words.text("no_reference")),
        Cell(words.ratio(one["tolerance"]), None if one["tolerance"] is not None else words.text("no_tolerance")),
    )


def _why_no_phase(one: Json, name: str, words: Words) -> str:
    if not one["completed"]:
        return words.text("phases.none_completed")
    if name == "duration_s":
        return words.text("phases.none_accepted")
    phase = one["phases"][name]
    if phase["measured"]:
        return words.text("phases.partly", measured=phase["measured"], completed=one["completed"])
    return _why(phase["missing"], words)


def _why(key: str | None, words: Words) -> str:
    return words.shared(key) if key else words.text("missing.unsaid")


def _grouped(reasons: Iterable[tuple[str, str]], words: Words) -> tuple[Line, ...]:
    """Reasons of empty cells, the columns that share one joined."""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons:
        names = by_reason.setdefault(why, [])
        if name not in names:
            names.append(name)
    return tuple(Line(words.said_of(why, names)) for why, names in by_reason.items())
