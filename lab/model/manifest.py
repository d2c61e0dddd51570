"""What is compared and how it is run: `manifest.toml` as an engineer declares it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from lab.messages import LANGUAGES

# Ids become names of folders and parts of attempt ids: nothing that a file system or a shell reads as more than a name.
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1)]

IDENTITY_KEYS = ("id", "gpu")  # what names a variant or its card, and is no setting of the work itself


def _known_language(language: str) -> str:
    if language not in LANGUAGES:
        raise ManifestRuleError("manifest-not-in-list", "language", found=language, choices=LANGUAGES)
    return language


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CorpusSpec(_Strict):
    """One corpus: where it is and which of its columns mean what."""

    id: Id
    path: Text
    format: Literal["jsonl", "csv", "parquet"] | None = None  # None: by the file name's ending
    delimiter: Text = ","
    encoding: Text = "utf-8"
    id_column: Text = "id"
    text_column: Text = "text"
    reference_column: Text | None = None
    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    tuning: Text | None = None
    answers: Literal["text", "vector"] | None = None  # the form of a prediction; None: any text, or the labels


class WarmUp(_Strict):
    """The warm-up rule, the same for all variants."""

    passes: Annotated[int, Field(ge=0)] = 1
    inputs: Annotated[int, Field(ge=0)] = 32
    recompilations: Literal["record", "fail"] = "record"


class RunPolicy(_Strict):
    """How passes are run; durations in seconds."""

    warm_up: WarmUp = WarmUp()
    process: Literal["per-attempt", "per-variant"] = "per-attempt"
    caches: Literal["keep", "clear"] = "keep"
    timeout_s: Annotated[float, Field(gt=0)] = 3600
    cool_down_s: Annotated[float, Field(ge=0)] = 0
    seeds: Annotated[tuple[int, ...], Field(min_length=1)] = (0,)


class MetricSpec(_Strict):
    """A metric of the user's own: `module:function`, its direction, and the ends of its range (None: no end)."""

    function: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
    higher_is_better: bool = True
    lowest: float | None = None
    highest: float | None = None


class Series(_Strict):
    """Variants that differ in the stated keys only."""

    id: Id
    variants: Annotated[tuple[Id, ...], Field(min_length=2)]
    varies: Annotated[tuple[Text, ...], Field(min_length=1)]


class Variant(_Strict):
    """One complete configuration."""

    id: Id
    gpu: Text | None = None
    workload: Id = "text-classification"  # one of `lab.workloads.WORKLOADS`, which are a floor above
    model: Text | None = None
    revision: Text | None = None
    tokenizer: Text | None = None
    tokenizer_revision: Text | None = None
    command: tuple[str, ...] = ()
    shell: bool | None = None  # of a command: whether `/bin/sh` reads it
    predictions_format: Literal["jsonl", "csv"] | None = None  # of a command: what it writes; None: jsonl
    function: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = None
    device: Text = "cpu"
    devices: Annotated[int, Field(ge=1)] = 1
    threads: Annotated[int, Field(ge=1)] = 1
    accelerator_type: Text | None = None  # of a Ray cluster's node, as Ray calls it
    resources: dict[Id, Annotated[float, Field(gt=0)]] | None = None  # of such a node: its own names for what it has
    deterministic: bool = False
    precision: Literal["fp32", "bf16", "fp16", "int8"] = "fp32"
    attention: Literal["eager", "sdpa", "flash"] = "sdpa"
    compile: bool | Text = False
    quantization: Text = "none"
    padding: Literal["longest", "max_length", "sorted", "token-budget"] = "longest"
    max_length: Annotated[int, Field(ge=1)] = 512
    batch_size: Annotated[int, Field(ge=1)] = 8
    token_budget: Annotated[int, Field(ge=1)] | None = None
    pooling: Literal["mean", "cls", "last"] | None = None  # of an embedding; None: mean
    normalize: bool | None = None  # of an embedding: to length 1; None: yes
    max_new_tokens: Annotated[int, Field(ge=1)] | None = None  # of a generation
    temperature: Annotated[float, Field(gt=0)] | None = None  # of a generation; None: greedy
    compatibility_source: Text | None = None
    compatibility_checked_on: date | Text | None = None

    def parameters(self) -> dict[str, Any]:
        """The variant's settings as plain JSON values, without what only names it; absent ones left out."""
        settings = self.model_dump(mode="json", exclude=set(IDENTITY_KEYS), exclude_none=True)
        return {key: value for key, value in settings.items() if value not in ([], ())}


class Manifest(_Strict):
    """`manifest.toml`, whole. Raises pydantic's `ValidationError` for what is wrong in itself."""

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    name: Id
    language: Annotated[str, AfterValidator(_known_language)]
    corpora: Annotated[tuple[CorpusSpec, ...], Field(min_length=1)]
    run: RunPolicy = RunPolicy()
    metrics: dict[str, MetricSpec] = Field(default_factory=dict)
    series: tuple[Series, ...] = ()
    variants: Annotated[tuple[Variant, ...], Field(min_length=1)]

    def variant(self, variant_id: str) -> Variant | None:
        """The variant of that id, or None."""
        return next((variant for variant in self.variants if variant.id == variant_id), None)

    @model_validator(mode="after")
    def _cross_checks(self) -> Manifest:
        """Ids are unique; a series names variants that exist and differ in what it states only."""
        for kind, ids in (
            ("corpora", [corpus.id for corpus in self.corpora]),
            ("variants", [variant.id for variant in self.variants]),
            ("series", [series.id for series in self.series]),
        ):
            twice = sorted({one for one in ids if ids.count(one) > 1})
            if twice:
                raise ManifestRuleError("manifest-duplicate-id", kind, ids=twice)
        for series in self.series:
            self._check_series(series)
        return self

    def _check_series(self, series: Series) -> None:
        members = [self.variant(one) for one in series.variants]
        unknown = [name for name, member in zip(series.variants, members, strict=True) if member is None]
        if unknown:
            raise ManifestRuleError("manifest-series-unknown-variant", f"series.{series.id}", ids=unknown)
        keys = [key for key in Variant.model_fields if key != "id"]
        not_keys = [key for key in series.varies if key not in keys]
        if not_keys:
            raise ManifestRuleError("manifest-series-unknown-key", f"series.{series.id}", keys=not_keys)
        values = [member.model_dump() for member in members if member is not None]
        differ = [key for key in keys if key not in series.varies and any(v[key] != values[0][key] for v in values)]
        if differ:
            raise ManifestRuleError("manifest-series-differs", f"series.{series.id}", keys=differ)


class ManifestRuleError(ValueError):
    """A rule between keys is broken; carries a fault's slug, place and facts through pydantic's report."""

    def __init__(self, slug: str, place: str, **values: object) -> None:
        """Keep slug, place and facts for the reader that turns them into a fault."""
        super().__init__(slug)
        self.slug, self.place, self.values = slug, place, values


def with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """The manifest's raw mapping with `[defaults]` merged into every variant (a variant's own key wins)."""
    defaults = data.get("defaults", {})
    rest = {key: value for key, value in data.items() if key != "defaults"}
    if isinstance(defaults, dict) and isinstance(rest.get("variants"), list):
        rest["variants"] = [{**defaults, **one} if isinstance(one, dict) else one for one in rest["variants"]]
    return rest
