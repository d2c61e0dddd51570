"""Device events around the inference part: read in sources, tried with a module that has the same names."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import torch

from lab.measure.device_timing import READING, inference_seconds

MARKS: list[float] = []


class _Event:
    """An event with torch's names; each is 2 ms after the one before."""

    def __init__(self, device: str, *, enable_timing: bool) -> None:
        assert (device, enable_timing) == ("cuda:0", True)

    def record(self) -> None:
        MARKS.append(2.0 * len(MARKS))
        self.at = MARKS[-1]

    def elapsed_time(self, other: _Event) -> float:
        return other.at - self.at


@pytest.fixture
def accelerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that says it has an accelerator."""
    MARKS.clear()
    invented = SimpleNamespace(accelerator=SimpleNamespace(is_available=lambda: True), Event=_Event)
    monkeypatch.setitem(sys.modules, "torch", invented)


@pytest.mark.usefixtures("accelerated")
def test_every_call_of_the_model_is_timed_and_nothing_between_them() -> None:
    """Three calls of 2 ms each with pauses of 2 ms: six; the hooks are gone afterwards."""
    work = SimpleNamespace(inference=torch.nn.Linear(2, 2))
    found: dict[str, float | None] = {}
    with inference_seconds(work, "cuda:0", found):
        for _ in range(3):
            work.inference(torch.zeros(1, 2))
    work.inference(torch.zeros(1, 2))
    assert found == {READING: 0.006}
    assert len(MARKS) == 6


@pytest.mark.usefixtures("accelerated")
def test_a_pass_that_fails_leaves_no_hook_and_no_figure() -> None:
    """The work's own error goes on its way."""
    work = SimpleNamespace(inference=torch.nn.Linear(2, 2))
    found: dict[str, float | None] = {}
    with pytest.raises(ValueError, match="mine"), inference_seconds(work, "cuda:0", found):
        raise ValueError("mine")
    work.inference(torch.zeros(1, 2))
    assert (found, MARKS) == ({}, [])


@pytest.mark.parametrize(("device", "inference"), [("cpu", torch.nn.Linear(2, 2)), ("cuda:0", None)])
def test_without_a_device_or_a_module_nothing_is_timed(device: str, inference: object) -> None:
    """The reading is absent, not 0."""
    found: dict[str, float | None] = {}
    with inference_seconds(SimpleNamespace(inference=inference), device, found):
        pass
    assert found == {}
