"""Compilation on a module small enough to be compiled in a moment: what is counted, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
import torch
from torch import nn

from lab.workloads.base import WorkloadError
from lab.workloads.compiling import Compiled


class _Named(nn.Module):
    """One matrix, called by name as a transformers model is."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.linear(given)
        return answer


def _call(compiled: Compiled, *rows: int) -> None:
    for number in rows:
        compiled(given=torch.ones(number, 4))


@pytest.fixture
def compiled() -> Iterator[Compiled]:
    """The module compiled for rows of four, one graph for each number of rows; torch as it was afterwards."""
    torch.compiler.reset()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=False), torch.inference_mode():
        one = Compiled(_Named().eval(), "default", one_width=False)
        one.compile(partial(_call, one, 3))
        yield one
    torch.compiler.reset()


def test_shapes_are_free_and_what_is_new_is_counted(compiled: Compiled) -> None:
    """Another number of rows needs no graph, a single row does; its seconds are told."""
    counts: dict[str, int] = {}
    facts: dict[str, str] = {}
    with compiled.watched(counts, facts, forbidden=False):
        _call(compiled, 5)
    assert (counts["recompilations"], float(facts["recompilation_s"])) == (0, 0)
    with compiled.watched(counts, facts, forbidden=False):
        _call(compiled, 1)
    assert counts["recompilations"] == 1
    assert float(facts["recompilation_s"]) > 0
    assert compiled.seconds > 0


def test_a_forbidden_recompilation_ends_the_pass(compiled: Compiled) -> None:
    """The reason is in words, and what the model computes is never quietly something else."""
    with pytest.raises(WorkloadError) as raised, compiled.watched({}, {}, forbidden=True):
        _call(compiled, 5, 1)
    assert raised.value.reason.key == "ended.recompiled"


def test_past_torchs_limit_of_graphs_the_pass_fails_instead_of_going_on_uncompiled(compiled: Compiled) -> None:
    """Torch's own habit is to go on without compiling, and to say so in a log at most."""
    limits = {"fail_on_recompile_limit_hit": True, "recompile_limit": 1}
    with (
        torch._dynamo.config.patch(limits),
        pytest.raises(WorkloadError) as raised,
        compiled.watched({}, {}, forbidden=False),
    ):
        _call(compiled, 1)
    assert raised.value.reason.key == "ended.compile_limit"


def test_another_error_of_the_model_stays_what_it_is(compiled: Compiled) -> None:
    """A wrong shape is no recompilation."""
    with pytest.raises(Exception, match=r"shape|size|mat1") as raised, compiled.watched({}, {}, forbidden=False):
        compiled(given=torch.ones(5, 3))
    assert not isinstance(raised.value, WorkloadError)


def test_a_model_that_cannot_be_compiled_says_so() -> None:
    """What the compiler refuses is a reason of its own, before any pass."""
    torch.compiler.reset()
    one = Compiled(nn.Identity(), "default", one_width=False)

    def refused() -> None:
        raise torch._dynamo.exc.Unsupported("no such thing")

    with pytest.raises(WorkloadError) as raised:
        one.compile(refused)
    assert dict(raised.value.reason.values) == {"error": "Unsupported"}
