"""What a pass does, whatever does it: prepare, warm up, run one pass. Its inputs, its results, and how it fails."""

from __future__ import annotations

import signal
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, Protocol, TypeAlias

from lab.errors import Fault
from lab.model.manifest import CorpusSpec, Variant
from lab.model.reason import Reason, reason
from lab.store.corpus import iter_inputs

Input = tuple[str, str]  # (id, text)
Prediction: TypeAlias = "str | array[float]"  # a text, or a vector; quoted: Python 3.11 has no `array[float]`
Scores = Mapping[str, float] | Sequence[float]
SCORE_DIGITS = 6
VECTOR_DIGITS = 6  # significant ones: what a 32-bit number holds for sure


class WorkloadError(Exception):
    """The work could not be done, for a reason that a person can read: its key is `ended.<why>`."""

    def __init__(self, why: str, **values: object) -> None:
        """Take the last part of the key and the facts that its text names."""
        super().__init__(why, values)
        self.reason: Reason = reason(f"ended.{why}", **values)


@dataclass(frozen=True)
class Job:
    """One pass to run: everything that a workload may know.

    Attributes:
        folder: the campaign folder, absolute; relative paths of the variant are inside it.
        variant: the complete configuration.
        corpus: where the inputs are and how they are read.
        size: number of inputs of the corpus.
        seed: set before loading, the same for every variant of a slot.
        warm_up_passes: how often the warm-up inputs are processed; 0 is no warm-up.
        warm_up_inputs: how many inputs of the corpus the warm-up covers.
        predictions: the file that the predictions are exported to, absolute.
        recompilations: what a recompilation inside the measured pass means: it is recorded, or the pass fails.
        share: places in the corpus, from 0, of the inputs that are this job's; others process the rest. None: all.
    """

    folder: Path
    variant: Variant
    corpus: CorpusSpec
    size: int
    seed: int
    warm_up_passes: int
    warm_up_inputs: int
    predictions: Path
    recompilations: Literal["record", "fail"] = "record"
    share: Collection[int] | None = None

    def inputs(self) -> Iterator[Input]:
        """Read the job's inputs from the corpus's file, (id, text) by (id, text), in its order."""
        every = iter_inputs(self.folder, self.corpus)
        if self.share is None:
            return every
        mine = self.share if isinstance(self.share, range) else frozenset(self.share)
        return (one for place, one in enumerate(every) if place in mine)


@dataclass
class Sink:
    """Takes predictions that are on the host, and says how many there are.

    Attributes:
        count: called with the number of inputs done so far, each time some are added.
        ids: of the inputs done, in the order they were done.
        predictions: one for each id; None where the work gave no answer.
        scores: of each id: label to score, or numbers in the order of `score_names`, or None.
        score_names: the labels that scores given as bare numbers belong to.
    """

    count: Callable[[int], None]
    ids: list[str] = field(default_factory=list)
    predictions: list[Prediction | None] = field(default_factory=list)
    scores: list[Scores | None] = field(default_factory=list)
    score_names: tuple[str, ...] = ()

    def add(
        self,
        ids: Sequence[str],
        predictions: Sequence[Prediction | None],
        scores: Sequence[Scores | None] | None = None,
    ) -> None:
        """Take the predictions of some inputs; all sequences have one length."""
        self.ids.extend(ids)
        self.predictions.extend(predictions)
        self.scores.extend(scores if scores is not None else [None] * len(ids))
        self.count(len(self.ids))

    def rows(self) -> Iterator[dict[str, object]]:
        """The rows of the predictions file, `scores` only where there are some, a vector as its text."""
        for one, prediction, scores in zip(self.ids, self.predictions, self.scores, strict=True):
            answer = vector_text(prediction) if isinstance(prediction, array) else prediction
            row: dict[str, object] = {"id": one, "prediction": answer}
            if scores is not None:
                named = scores.items() if isinstance(scores, Mapping) else zip(self.score_names, scores, strict=True)
                row["scores"] = {label: round(score, SCORE_DIGITS) for label, score in named}
            yield row


class Told:
    """What a workload tells beside its predictions; empty until `prepare` and the pass fill it."""

    owns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        """Start with nothing to tell."""
        self.durations: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.facts: dict[str, str] = {}

    def again(self, job: Job) -> bool:  # noqa: ARG002  (the workloads' one signature)
        """Keep nothing: the process prepares anew for its next pass."""
        return False

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """Characters: what is known of a text before anything has read it."""
        return [len(text) for text in texts]

    def look_back(self) -> None:
        """Find nothing to look at: most work shows all of itself in its pass."""


class Workload(Protocol):
    """One way of doing a pass. A new object is made for each attempt, in the attempt's own process.

    Attributes:
        name: what a variant's `workload` says.
        needs: the key that a variant cannot do without.
        owns: keys that mean something to this workload alone; on a variant of another one they are a fault.
        preload: modules that a worker may find already imported; their import is in no duration.
        warms_up: whether a warm-up does anything here (a program started anew for each pass has none).
        exports: whether the pass writes the predictions file itself.
        durations: seconds of phases that only the workload can see (`download_s`, `compile_s`), where they happened; a
            workload that knows which part of its pass is the main one says so as `duration_s`, which then stands in
            place of the time around `run_pass`.
        counts: what was counted in the pass, for `attempt.json`; each pass starts them anew.
        facts: what was observed of the run, for `attempt.json`.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    owns: ClassVar[tuple[str, ...]]
    preload: ClassVar[tuple[str, ...]]
    warms_up: ClassVar[bool]
    exports: ClassVar[bool]
    durations: dict[str, float]
    counts: dict[str, int]
    facts: dict[str, str]

    @classmethod
    def check(cls, variant: Variant, folder: Path) -> tuple[Fault, ...]:
        """What makes every pass of `variant` impossible here, known without running one; empty when nothing does."""
        ...

    def prepare(self, job: Job) -> None:
        """Load what the pass needs. Raises `WorkloadError`, or whatever the work itself raises."""
        ...

    def again(self, job: Job) -> bool:
        """Take the next pass of the same variant in a process that has done one (`process = "per-variant"`).

        Returns:
            Whether what is loaded stays and `job` is now the one to work for; False where it must be prepared anew, by
            a new object. A warm-up follows either way, and `durations` have been emptied.
        """
        ...

    def warm_up(self, chosen: Sequence[Input]) -> None:
        """Process `chosen` once, without counting, in every shape of work that the pass will meet."""
        ...

    def run_pass(self, sink: Sink) -> None:
        """Read the corpus, process it, give every prediction to `sink`: what the main duration covers."""
        ...

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """What each text weighs in a pass: its tokens, or its characters; for dividing a corpus over devices."""
        ...

    def look_back(self) -> None:
        """Look at what really ran, once the pass is over and no clock runs; fills `facts`, never fails the pass."""
        ...


def warm_up_inputs(inputs: Sequence[Input], wanted: int) -> tuple[Input, ...]:
    """Choose `wanted` inputs (all, when there are fewer) spread evenly over the lengths, in corpus order.

    The choice depends on the corpus alone, so that it is the same for every variant whatever its tokenizer or batches
    (seeds: one warm-up rule for all variants). Length is the number of characters; the longest input is always in it.
    """
    if wanted <= 0 or not inputs:
        return ()
    by_length = sorted(range(len(inputs)), key=lambda index: (len(inputs[index][1]), index))
    wanted = min(wanted, len(inputs))
    last = len(inputs) - 1
    chosen = {by_length[last - (step * len(inputs)) // wanted] for step in range(wanted)}
    return tuple(inputs[index] for index in sorted(chosen))


def vector_text(vector: Sequence[float]) -> str:
    """A vector as the predictions file holds it: a JSON array, each number to six significant digits."""
    return f"[{','.join(f'{value:.{VECTOR_DIGITS}g}' for value in vector)}]"


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; the number itself where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
