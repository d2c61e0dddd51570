"""The live formulas, in functions that Excel 2010 and LibreOffice both have, with the words of the language.

Names such as `offer_gpu` are defined over the columns of the tables with room to grow. What a formula says when the
file is made is computed in `values.py`, by the code that prices everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.messages import DASH, Messages
from lab.model.attempt import FAILURES
from lab.store.workbook.sheet import letters
from lab.store.workbook.tables import CHOICES, SUMMARY, WINDOWS, Table


def quoted(words: str) -> str:
    """A text as a formula holds it."""
    return '"' + words.replace('"', '""') + '"'


@dataclass(frozen=True)
class Formulas:
    """The formulas of one workbook's language; `row` is a sheet row, columns start at `first` (1 for A)."""

    words: Messages

    def _word(self, key: str) -> str:
        return quoted(self.words.text(key))

    def choice(self, row: int, first: int) -> dict[str, str]:
        """Cards, committed budget, currency, hours, whether the window is covered, of one line of choices.

        Without days the line is rental by the hour: the window in whole seconds is rounded up to the increment, at
        least the minimum. Spot offers stand in for nothing. Names are compared exactly, as everywhere.
        """
        at = _cells(CHOICES, row, first)
        dash, days, committed, covers = quoted(DASH), at["days"], at["committed"], at["covers_hours"]
        spot = self.is_true("offer_spot")
        meant = (
            f'EXACT(offer_gpu,{at["gpu"]})*(({days}<>"")*(offer_model="forfait")*(offer_days={days})'
            f'+({days}="")*(offer_model="hourly"))*(({spot})=0)'
        )
        count, place = f"SUMPRODUCT({meant})", f"SUMPRODUCT({meant}*(ROW(offer_gpu)-MIN(ROW(offer_gpu))+1))"
        open_ = f'OR({at["gpu"]}="",{at["lots"]}="")'
        periods = f'IF({at["periods"]}="",1,{at["periods"]})'
        hours = _of("window_hours", "window_variant", at["variant"])
        steps = f"ROUNDUP(ROUND({hours}*3600,0)/(60*SUMPRODUCT({meant},offer_increment)),0)"
        billed = f"MAX({steps}*SUMPRODUCT({meant},offer_increment)/60,SUMPRODUCT({meant},offer_minimum))"
        # Nine decimals first: what is half a cent in decimals must not fall below it in binary.
        budget = f'ROUND(ROUND(SUMPRODUCT({meant},offer_price)*{at["lots"]}*IF({days}="",{covers},{periods}),9),2)'
        covered = f"IF(ROUND({hours}*3600,0)<=ROUND({covers}*3600,0),{self._word('word.yes')},{self._word('word.no')})"

        def priced(value: str) -> str:
            return f"=IF(ISNUMBER({committed}),{value},{dash})"

        texts = {
            "cards": priced(f"SUMPRODUCT({meant},offer_cards)*{at['lots']}"),
            "committed": (
                f"=IF({open_},{self._word('word.no_package')},IF({count}=0,{self._word('word.unknown_price')},"
                f"IF({count}>1,{self._word('word.several_prices')},"
                f"IF(ISNUMBER({covers}),{budget},{self._word('word.window_unknown')}))))"
            ),
            "currency": priced(f"INDEX(offer_currency,{place})"),
            "covers_hours": (
                f"=IF({open_},{dash},IF({count}<>1,{dash},"
                f'IF({days}<>"",24*{days}*{periods},IF(ISNUMBER({hours}),{billed},{dash}))))'
            ),
            "covers_window": priced(f"IF(ISNUMBER({hours}),{covered},{self._word('word.window_unknown')})"),
            "price_status": priced(
                f'IF(LEFT(INDEX(offer_version,{place}),7)="example",{self._word("word.example_price")},'
                f"{self._word('word.catalogue_price')})"
            ),
        }
        return {name: _where_named(text, at["variant"]) for name, text in texts.items()}

    def is_true(self, cells: str) -> str:
        """How many of what a cell may hold that means true it holds: 0 or 1, for one cell or a whole range."""
        return _any_of(cells, "TRUE", self.words.text("cell.true_words"))

    def is_false(self, cell: str) -> str:
        """As `is_true`, for what means false; an empty cell does not."""
        return f'({cell}<>"")*({_any_of(cell, "FALSE", self.words.text("cell.false_words"))})'

    def offer_status(self, version: str) -> str:
        """`example price` beside a catalogue row whose version says so, and nothing beside the others."""
        return f'=IF(LEFT({version},7)="example",{self._word("word.example_price")},"")'

    def window(self, row: int, first: int) -> dict[str, str]:
        """First start, last end and hours of a variant's tasks and those of all variants; array formulas.

        Local times alone would be an hour off across a clock change: `zone_from` and `zone_ahead` hold the changes.
        """
        at = _cells(WINDOWS, row, first)
        meant = f'(EXACT(task_variant,{at["window_variant"]})+(task_variant="")>0)'
        own = f"{meant}*ISNUMBER(task_start)*ISNUMBER(task_end)"
        # A task with one date, or with a date that is text, is not left out in silence: the window is unknown then.
        held = "(LEN(TRIM(task_start))+LEN(TRIM(task_end))>0)"
        half = f"{meant}*{held}*(ISNUMBER(task_start)*ISNUMBER(task_end)=0)"
        unclear = f"SUM({own})=0,SUM({half})>0"
        unknown = self._word("word.unknown")
        start, end = at["window_start"], at["window_end"]
        ahead = f"LOOKUP({end},zone_from,zone_ahead)-LOOKUP({start},zone_from,zone_ahead)"
        texts = {
            "window_start": f"=IF(OR({unclear}),{unknown},MIN(IF({own},task_start)))",
            "window_end": f"=IF(OR({unclear}),{unknown},MAX(IF({own},task_end)))",
            "window_hours": f"=IF(ISNUMBER({start}),ROUND((({end}-{start})*24-({ahead}))*3600,0)/3600,{unknown})",
        }
        named = {name: _where_named(text, at["window_variant"]) for name, text in texts.items()}
        return {name: text if name == "window_hours" else f"{{{text}}}" for name, text in named.items()}

    def summary(self, row: int, columns: Table = SUMMARY) -> dict[str, str]:
        """Counts, durations and costs of one line of `summary`; durations of accepted, not excluded attempts."""
        at = _cells(columns, row, 1)
        same = f"EXACT(attempts_variant,{at['variant']})*EXACT(attempts_corpus,{at['corpus']})"
        if "seed" in at:
            same += f'*(attempts_seed={at["seed"]})*(attempts_seed<>"")'
        excluded = self.is_true("attempts_excluded")
        counted = f'{same}*(attempts_verdict="accepted")*(({excluded})=0)*ISNUMBER(attempts_duration)'
        failed = "+".join(f'(attempts_outcome="{one}")' for one in FAILURES)
        own = f"EXACT(deliverable_variant,{at['variant']})"
        taken = self.is_true("deliverable_accepted")
        stated = f'SUMPRODUCT({own}*(deliverable_accepted<>""))'
        committed, accepted = at["committed"], at["accepted_deliverables"]
        dash = quoted(DASH)
        texts = {
            "attempts": f"=SUMPRODUCT({same})",
            "accepted_attempts": f'=SUMPRODUCT({same}*(attempts_verdict="accepted"))',
            "failed_attempts": f"=SUMPRODUCT({same}*({failed}))",
            "median_s": f"=IF(SUM({counted})=0,{dash},MEDIAN(IF({counted},attempts_duration)))",
            "min_s": f"=IF(SUM({counted})=0,{dash},MIN(IF({counted},attempts_duration)))",
            "max_s": f"=IF(SUM({counted})=0,{dash},MAX(IF({counted},attempts_duration)))",
            "committed": f"=IFERROR({_of('choice_committed', 'choice_variant', at['variant'])},{dash})",
            "currency": f"=IFERROR({_of('choice_currency', 'choice_variant', at['variant'])},{dash})",
            "accepted_deliverables": f"=IF({stated}=0,{self._word('word.not_stated')},SUMPRODUCT({own}*(({taken})>0)))",
            "cost_per_validated_corpus": (
                f"=IF(NOT(ISNUMBER({committed})),{dash},IF(NOT(ISNUMBER({accepted})),"
                f"{self._word('word.not_stated')},IF({accepted}=0,{self._word('word.undefined')},"
                f"ROUND({committed}/{accepted},2))))"
            ),
        }
        # After an addition Excel recalculates as asked; LibreOffice trusts stored results, but not of array formulas.
        return {name: f"{{{_where_named(text, at['variant'])}}}" for name, text in texts.items()}


def _where_named(formula: str, variant: str) -> str:
    """A formula that says nothing in a line that is ready for a variant and has none yet."""
    return f'=IF({variant}="","",{formula.removeprefix("=")})'


def _any_of(cells: str, constant: str, words: str) -> str:
    return "+".join(f"({cells}={one})" for one in (constant, *(quoted(one.strip()) for one in words.split("/"))))


def _of(values: str, names: str, cell: str) -> str:
    """The value beside the name that is exactly this one: `MATCH` and `COUNTIFS` take `B1` for `b1`, `01` for `1`."""
    place = f"SUMPRODUCT(EXACT({names},{cell})*(ROW({names})-MIN(ROW({names}))+1))"
    return f"INDEX({values},IF(SUMPRODUCT(EXACT({names},{cell})*1)=1,{place},NA()))"


def _cells(table: Table, row: int, first: int) -> dict[str, str]:
    return {name: f"${letters(first + number)}{row}" for number, name in enumerate(table.names)}
