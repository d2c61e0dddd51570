"""A device that this machine lacks is said before the first pass: passes that fail are never run again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import fast_campaign
import pytest

from lab.errors import InvalidInputError
from lab.measure.absent_devices import absent_devices, unseen_faults
from lab.measure.engines import EngineChoice
from lab.measure.runner import run_campaign
from lab.model.manifest import Manifest, Variant
from lab.store.attempts import read_records

FAKE = Path(__file__).parent / "fake_drivers"


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A driver that knows two cards; its module is taken away again."""
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("LAB_FAKE_NVML", str(tmp_path))
    yield
    sys.modules.pop("pynvml", None)


def manifest(folder: Path, **devices: tuple[str, int]) -> Manifest:
    """A manifest with one variant for each device and number of them."""
    variants = [fast_campaign.variant(name, device=one, devices=count) for name, (one, count) in devices.items()]
    fast_campaign.write(folder, variants)
    return fast_campaign.read(folder).manifest


def test_without_a_driver_the_system_files_decide(tmp_path: Path) -> None:
    """No device file of any vendor: no card; one of them: not known here; kinds nobody answers for are left alone."""
    declared = manifest(
        tmp_path / "c", here=("cpu", 2), card=("cuda:0", 1), two=("cuda", 2), apple=("mps", 1), other=("xpu:0", 1)
    )
    system = tmp_path / "dev"
    system.mkdir()
    (system / "null").touch()
    found = absent_devices(declared, variables={}, system_devices=system)
    assert found == {"card": ("cuda:0",), "two": ("cuda:0", "cuda:1"), "apple": ("mps:0",)}
    assert absent_devices(declared, {"here", "other"}, variables={}, system_devices=system) == {}
    for name in ("nvidia0", "kfd", "dxg"):
        (system / name).touch()
        assert set(absent_devices(declared, variables={}, system_devices=system)) == {"apple"}
        (system / name).unlink()


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(
    ("variables", "absent"),
    [
        ({}, {"third": ("cuda:2",), "three": ("cuda:2",)}),
        ({"CUDA_VISIBLE_DEVICES": "1"}, {"second": ("cuda:1",), "third": ("cuda:2",), "three": ("cuda:1", "cuda:2")}),
        ({"CUDA_VISIBLE_DEVICES": "MIG-1,MIG-2,MIG-3"}, {}),
    ],
)
def test_the_driver_and_what_is_hidden_from_this_process_are_counted(
    tmp_path: Path, variables: dict[str, str], absent: dict[str, tuple[str, ...]]
) -> None:
    """Two cards are known; a visibility variable leaves fewer; slices of a card are not counted, so nothing is said."""
    declared = manifest(
        tmp_path / "c", first=("cuda:0", 1), second=("cuda:1", 1), third=("cuda:2", 1), three=("cuda:0", 3)
    )
    assert absent_devices(declared, variables=variables) == absent


@pytest.mark.usefixtures("cards")
def test_a_run_is_refused_before_anything_and_goes_on_with_only(tmp_path: Path) -> None:
    """Nothing is on record for a card that is not here; the variants of this host are run all the same."""
    declared = manifest(tmp_path / "c", here=("cpu", 1), there=("cuda:5", 1))
    with pytest.raises(InvalidInputError) as told:
        run_campaign(tmp_path / "c", fast_campaign.read(tmp_path / "c"), observe=print, on_attempt=print)
    (fault,) = told.value.faults
    assert (fault.slug, fault.place, fault.values["devices"]) == ("device-absent", "variants.there.device", ["cuda:5"])
    assert not read_records(tmp_path / "c")
    assert EngineChoice().faults(declared) == ()  # which variants belong here is not known yet
    campaign = fast_campaign.read(tmp_path / "c")
    done = run_campaign(tmp_path / "c", campaign, observe=lambda _: None, on_attempt=lambda _: None, only=["here"])
    assert {one.attempt.outcome for one in done.records} == {"completed"}


@pytest.mark.usefixtures("cards")
def test_a_card_that_is_needed_no_more_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its passes are done: `lab run` on another machine, where the campaign is decided, has nothing to refuse."""
    manifest(tmp_path / "c", card=("cuda:1", 1))

    def run() -> int:
        campaign = fast_campaign.read(tmp_path / "c")
        return len(run_campaign(tmp_path / "c", campaign, observe=lambda _: None, on_attempt=lambda _: None).records)

    assert run() == 3
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert run() == 0


def test_a_device_that_torch_does_not_see_stops_the_run_before_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver has cards and this torch is built for processors: no attempt is on record that nobody could run."""
    monkeypatch.setenv("PYTHONPATH", str(FAKE))  # the worker that asks torch finds the same cards
    monkeypatch.setenv("LAB_FAKE_NVML", str(tmp_path))
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    card = {"id": "card", "workload": "text-classification", "model": "models/m", "device": "cuda:0"}
    fast_campaign.write(tmp_path / "c", [card], repetitions=1)
    try:
        with pytest.raises(InvalidInputError) as told:
            run_campaign(tmp_path / "c", fast_campaign.read(tmp_path / "c"), observe=print, on_attempt=print)
    finally:
        sys.modules.pop("pynvml", None)
    (fault,) = told.value.faults
    assert (fault.slug, fault.values["devices"]) == ("device-unseen", ["cuda:0"])
    assert not read_records(tmp_path / "c")


def test_what_torch_sees_is_counted_from_the_first_device_on() -> None:
    """Two cards: the third is not seen; a processor, and a function that torch is not asked for, are left alone."""
    seen = {"torch.version": "2.13.0", "accelerator.kind": "cuda", "accelerator.count": "2"}
    model = {"id": "v", "workload": "text-classification", "model": "m"}
    for device, devices, unseen in (
        ("cuda:0", 2, None),
        ("cuda:1", 2, ["cuda:2"]),
        ("xpu:0", 1, ["xpu:0"]),
        ("cpu", 3, None),
    ):
        found = unseen_faults(Variant(device=device, devices=devices, **model), seen)
        assert [one.values["devices"] for one in found] == ([unseen] if unseen else [])
    own = Variant(id="v", workload="python", function="w:f", device="cuda:5")
    assert unseen_faults(own, seen) == ()
    assert unseen_faults(Variant(device="cuda:5", **model), {}) == ()
