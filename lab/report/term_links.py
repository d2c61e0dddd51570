"""Words of the glossary within a text as links to their explanation, which also shows when pointed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from lab.report.blocks import Term


def linker(terms: Sequence[Term]) -> Callable[[], Callable[[str], Markup]]:
    """Makes, for each section, what marks the first use of each term in that section's texts; all else is escaped.

    Longer forms win, so that "committed budget" is one term; a form is found whole and in either case.
    """
    by_form = {form.casefold(): term for term in terms for form in term.forms}
    forms = sorted(by_form, key=len, reverse=True)
    found_by = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, forms))})(?!\w)", re.IGNORECASE)

    def section() -> Callable[[str], Markup]:
        done: set[str] = set()

        def linked(text: str) -> Markup:
            parts: list[Markup] = []
            last = 0
            for found in found_by.finditer(text):
                term = by_form[found[0].casefold()]
                if term.id in done:
                    continue
                done.add(term.id)
                link = Markup('<a class="term" href="#{}" title="{}">{}</a>').format(term.id, term.meaning, found[0])
                parts += [escape(text[last : found.start()]), link]
                last = found.end()
            return Markup("").join([*parts, escape(text[last:])])

        return linked

    return section
