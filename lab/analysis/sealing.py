"""What an amendment of the seal means: acceptance terms changed with results in sight, and attempts it left behind.

Seals are compared by their values in clear, name -> text, as `Seal.sealed` and `Amendment.sealed` hold them.

Acceptance terms amended after attempts were known fail the gate `sealed` until the corpus is a new one (the product's
method, section 8). Terms are what results are accepted or told apart by:

- in the protocol: what an accepted result is, metric, threshold, tolerance, reference variant, subgroup thresholds,
  reproducibility target, required accepted passes (a smaller number of repetitions lowers them where they are not
  stated apart; more repetitions are only more to run), separation factor and exclusion rules;
- the labels of a corpus, and its reference answers, subgroups and order: its fingerprint, while its texts are the same;
- a corpus or a seed that was dropped, the function behind the protocol's metric (its name, the file that holds it,
  its direction and the ends of its range), and any setting of the reference variant.

Everything else (question, deadline, budget, a variant, corpus or seed that is added) is listed and breaks nothing.

A corpus is a new one when none of the corpora now sealed has the texts of one that attempts were known on. An amendment
before any attempt is harmless.

Attempts stay under the seal that they were started under, and count as long as nothing that concerns them changed
since: the settings of their variant, the run policy other than its seeds, the texts of their corpus. A variant or a
corpus that changes takes an id of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lab.model.attempt import Attempt
from lab.model.campaign import Amendment, Seal
from lab.model.manifest import IDENTITY_KEYS, Variant

_TERMS = (
    "accepted_result", "metric", "threshold", "tolerance", "reference_variant", "subgroup_thresholds",
    "reproducibility_target", "separation_factor", "exclusion_rules",
)  # fmt: skip
_REQUIRED, _REPETITIONS = "protocol.required_accepted_passes", "protocol.repetitions"
_SEEDS = "manifest.run.seeds"
# What a person wrote down about a variant; it runs the same with or without.
_NOTED = (*IDENTITY_KEYS, "compatibility_source", "compatibility_checked_on")

Sealed = Mapping[str, str]


@dataclass(frozen=True)
class Broken:
    """Acceptance terms (their names as sealed) that an amendment changed after attempts were known."""

    amendment: Amendment
    terms: tuple[str, ...]


def broken_terms(seal: Seal) -> tuple[Broken, ...]:
    """Every amendment that fails the gate `sealed` now, oldest first (rule: see the module)."""
    if not seal.amendments:
        return ()
    texts = {_texts(seal.sealed, one) for one in _corpora(seal.sealed)}
    found = []
    for place, amendment in enumerate(seal.amendments):
        terms = amended_terms(amendment.sealed, _after(seal, place))
        if terms and texts & _known_texts(seal.amendments[: place + 1]):
            found.append(Broken(amendment, terms))
    return tuple(found)


def amended_terms(before: Sealed, after: Sealed) -> tuple[str, ...]:
    """Names of the acceptance terms in which two seals differ, in order of name."""
    return tuple(name for name in _differ(before, after) if _is_term(name, before, after))


def concerning(attempt: Attempt, before: Sealed, after: Sealed) -> tuple[str, ...]:
    """Names of what concerns an attempt and differs between the seal it was started under and a later one."""
    return tuple(name for name in _differ(before, after) if _concerns(name, attempt, before, after))


def _differ(before: Sealed, after: Sealed) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))


def _after(seal: Seal, place: int) -> Sealed:
    later = seal.amendments[place + 1 :]
    return later[0].sealed if later else seal.sealed


def _known_texts(amendments: tuple[Amendment, ...]) -> set[str | None]:
    """The texts of every corpus on which attempts were known at the last of these amendments.

    An attempt without a seal or a corpus of its own, such as a row filled in by hand, is taken to be on what was sealed
    at that moment.
    """
    last, by_seal = amendments[-1], {one.fingerprint: one.sealed for one in amendments}
    found: set[str | None] = set()
    for one in last.known:
        sealed = by_seal.get(one.seal or "", last.sealed)
        corpora = [name for name in _corpora(sealed) if name == one.corpus] or _corpora(sealed)
        found |= {_texts(sealed, name) for name in corpora}
    return found


def _corpora(sealed: Sealed) -> list[str]:
    names = (name for name in sealed if name.startswith("corpora.") and name.endswith(".sha256"))
    return [name.removeprefix("corpora.").removesuffix(".sha256") for name in names]


def _texts(sealed: Sealed, corpus: str) -> str | None:
    """The fingerprint of a corpus's texts, or of all of it where the seal holds no other; None for no such corpus."""
    return sealed.get(f"corpora.{corpus}.texts_sha256", sealed.get(f"corpora.{corpus}.sha256"))


def _same_texts(corpus: str, before: Sealed, after: Sealed) -> bool:
    return _texts(before, corpus) is not None and _texts(before, corpus) == _texts(after, corpus)


def _is_term(name: str, before: Sealed, after: Sealed) -> bool:
    if name == _REQUIRED:
        return _required(before) != _required(after)
    if name == _REPETITIONS:
        return _REQUIRED not in before and _REQUIRED not in after and _required(after) < _required(before)
    if name == _SEEDS:
        return not set(_numbers(before.get(name))) <= set(_numbers(after.get(name)))
    if name.startswith("protocol."):
        return name.split(".")[1] in _TERMS
    metric = before.get("protocol.metric")
    of_metric = name.startswith(f"manifest.metrics.{metric}.") or name == f"metrics.{metric}.function_sha256"
    of_reference = _setting(name, before.get("protocol.reference_variant")) not in (None, *_NOTED)
    of_corpora = (_is_term_of_corpus(name, one, before, after) for one in _corpora(before))
    return of_metric or of_reference or any(of_corpora)


def _is_term_of_corpus(name: str, corpus: str, before: Sealed, after: Sealed) -> bool:
    if name == f"corpora.{corpus}.sha256":
        return name not in after or _same_texts(corpus, before, after)
    return name == f"manifest.corpora.{corpus}.labels" and _same_texts(corpus, before, after)


def _required(sealed: Sealed) -> int:
    return next(_numbers(sealed.get(_REQUIRED) or sealed.get(_REPETITIONS)), 0)


def _numbers(text: str | None) -> Iterator[int]:
    """The whole numbers that a sealed value holds: one, or a list of them."""
    found = json.loads(text or "[]")
    yield from found if isinstance(found, list) else [found]


def _setting(name: str, variant: str | None) -> str | None:
    """The setting of `variant` that `name` is; None where it is another's, whose id may begin with the same words."""
    prefix = f"manifest.variants.{variant}."
    rest = name.removeprefix(prefix)
    return rest if name.startswith(prefix) and rest in Variant.model_fields else None


def _concerns(name: str, attempt: Attempt, before: Sealed, after: Sealed) -> bool:
    if name == f"corpora.{attempt.corpus}.sha256":
        return not _same_texts(attempt.corpus or "", before, after)
    if name.startswith("manifest.run."):
        return name != _SEEDS
    return _setting(name, attempt.variant) not in (None, *_NOTED)
