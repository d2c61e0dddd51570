"""Devices through modules with NVML's and amdsmi's own names: this machine has none, so no figure here is of a card."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import fast_campaign
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.measure import endings
from lab.measure.accelerators import driver_facts
from lab.measure.driver import join, open_driver, visible
from lab.measure.driver_facts import DriverDevice, DriverReading
from lab.measure.memory import with_whole_device
from lab.measure.readings import energy_j, of_devices, throttled
from lab.measure.runner import run_campaign
from lab.measure.sampler import device_places
from lab.model.attempt import DeviceMemory
from lab.store.environments import read_environments

FAKES = Path(__file__).parent / "fake_drivers"
FIRST, SECOND = ("GPU-11111111-aaaa-bbbb-cccc-000000000001", "GPU-22222222-aaaa-bbbb-cccc-000000000002")
CARDS = (DriverDevice(0, "A", FIRST, "0000:41:00.0"), DriverDevice(1, "B", SECOND, "0000:42:00.0"))


@pytest.fixture
def nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that says what the invented cards do; also for every process that is started."""
    place = tmp_path / "nvml"
    place.mkdir()
    monkeypatch.setenv("LAB_FAKE_NVML", str(place))
    yield from _with_fakes(monkeypatch)


def _with_fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FAKES), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(FAKES))
    importlib.invalidate_caches()
    for name in ("pynvml", "amdsmi"):
        sys.modules.pop(name, None)  # the real one, where it is installed
    yield Path(os.environ.get("LAB_FAKE_NVML", "."))
    for name in ("pynvml", "amdsmi"):
        sys.modules.pop(name, None)


def test_without_a_reader_there_is_no_driver_and_no_fact() -> None:
    """This machine: neither module is installed."""
    assert open_driver() is None
    assert driver_facts() == {}


def test_nvml_says_what_a_card_says_and_leaves_out_what_it_does_not(nvml: Path) -> None:
    """Memory by its second version, clocks, heat, power, throttling, energy; the second card counts no energy."""
    (nvml / "used").write_text(str(5 * 2**30))
    driver = open_driver()
    assert driver is not None
    with driver:
        assert (driver.kind, [one.uuid for one in driver.devices]) == ("nvml", [FIRST, SECOND])
        assert driver.devices[0].pci == "0000:41:00.0"
        first, second = (driver.read(one) for one in driver.devices)
    assert first.used_bytes == 5 * 2**30
    assert (first.temperature_c, first.core_clock_mhz, first.memory_clock_mhz) == (40, 1500, 9000)
    assert (first.power_w, first.power_limit_w, first.utilisation_percent) == (120.5, 450, 37)
    assert first.energy_j == 1005
    assert second.energy_j is None
    assert first.process_ids == (4_000_001, 4_000_002)
    assert driver_facts({}) == {
        "driver.version": "999.01",
        "driver.reader": "nvml",
        "driver.count": "2",
        "driver.0.name": "Invented RTX 1",
        "driver.0.uuid": FIRST,
        "driver.1.name": "Invented RTX 1",
        "driver.1.uuid": SECOND,
        "driver.visible": f"{FIRST}, {SECOND}",
    }
    assert driver_facts({"CUDA_VISIBLE_DEVICES": "1"})["driver.visible"] == SECOND


def test_a_lost_card_answers_nothing_and_ends_an_attempt_so(nvml: Path) -> None:
    """A device that fell off the bus is told from another failure."""
    driver = open_driver()
    assert driver is not None
    with driver:
        places = {"cuda:0": (FIRST, None)}
        assert not endings.is_lost(driver, places)
        (nvml / "lost").touch()
        assert endings.is_lost(driver, places)
        assert not endings.is_lost(driver, {"cuda:0": (SECOND, None)})
        assert driver.read(driver.devices[0]) == DriverReading()
    assert endings.LOST[1].key == "ended.device_lost"


def test_amdsmi_gives_the_same_values_in_the_same_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mebibytes, microwatts and steps of microjoules become bytes, watts and joules; `N/A` is absent."""
    monkeypatch.setenv("LAB_FAKE_AMDSMI", "1")
    fakes = _with_fakes(monkeypatch)
    next(fakes)
    driver = open_driver()
    assert driver is not None
    with driver:
        (card,) = driver.devices
        assert (driver.kind, card.name, card.pci, card.memory_bytes) == (
            "amdsmi",
            "Invented MI 1",
            "0000:c1:00.0",
            64 * 2**30,
        )
        seen = driver.read(card)
    assert (seen.used_bytes, seen.power_w, seen.power_limit_w, seen.temperature_c) == (300 * 2**20, 210, 300, 61)
    assert seen.energy_j == pytest.approx(15.3)
    assert (seen.core_clock_mhz, seen.memory_clock_mhz) == (1700, None)
    assert join(driver.devices, None, "0000:C1:00.0") == card
    assert list(fakes) == []


def test_torch_and_driver_are_joined_by_uuid_else_by_address_never_by_number() -> None:
    """Torch leaves the vendor's prefix out; an unknown device is nobody's."""
    assert join(CARDS, FIRST.removeprefix("GPU-")) == CARDS[0]
    assert join(CARDS, "GPU-unknown", "0000:42:00.0") == CARDS[1]
    assert join(CARDS, None, None) is None
    assert join(CARDS, "unknown") is None


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (FIRST, SECOND)),
        ({"CUDA_VISIBLE_DEVICES": "GPU-2222"}, (SECOND,)),
        ({"CUDA_VISIBLE_DEVICES": f"{SECOND},{FIRST}"}, (SECOND, FIRST)),
        ({"CUDA_VISIBLE_DEVICES": ""}, ()),
        ({"CUDA_VISIBLE_DEVICES": "1"}, None),  # two models, ordered by speed: which is 1 is not known
        ({"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, (SECOND,)),
        ({"CUDA_VISIBLE_DEVICES": "0,7", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, (FIRST,)),
        ({"HIP_VISIBLE_DEVICES": "GPU-1"}, (FIRST,)),
    ],
)
def test_visible_devices_are_named_by_uuid_or_not_at_all(
    variables: dict[str, str], expected: tuple[str, ...] | None
) -> None:
    """`CUDA_VISIBLE_DEVICES` as the driver's UUIDs; None where a number could mean another card."""
    assert visible(CARDS, variables) == expected


@given(st.lists(st.one_of(st.none(), st.integers(0, 2**40)), min_size=2, max_size=2))
def test_devices_are_kept_apart_and_the_largest_count_of_each_stands(counts: list[int | None]) -> None:
    """Two cards never become one figure; an absent count changes nothing."""
    held = (DeviceMemory("cuda:0", peak_allocated_bytes=5, peak_device_bytes=100), DeviceMemory("cuda:1"))
    found = with_whole_device(held, dict(zip(("cuda:0", "cuda:1"), counts, strict=True)))
    assert [one.peak_device_bytes for one in found] == [max(100, counts[0] or 0), counts[1]]
    assert found[0].peak_allocated_bytes == 5


def test_readings_of_a_pass_keep_devices_and_moments_apart() -> None:
    """`start.` and `end.` of each device; energy between them, and none for the whole when one card counts none."""
    start = {"cuda:0": DriverReading(energy_j=10, throttle_bits=0x24, process_ids=(1, 2, 3))}
    end = {"cuda:0": DriverReading(energy_j=25.5, temperature_c=70, process_ids=(1,))}
    found = of_devices(start, end, own=[1])
    assert found["pass.cuda:0.energy_j"] == 15.5
    assert (found["start.cuda:0.other_processes"], found["end.cuda:0.other_processes"]) == (2, 0)
    assert (found["start.cuda:0.temperature_c"], found["end.cuda:0.temperature_c"]) == (None, 70)
    assert energy_j(found) == 15.5
    assert energy_j({**found, "pass.cuda:1.energy_j": None}) is None
    assert energy_j({}) is None
    assert energy_j(of_devices(end, start)) is None  # a counter that went back was reset
    assert throttled("nvml", found) == {"start.cuda:0.throttled": "power_cap, thermal"}


def test_places_come_from_torch_else_from_what_is_visible() -> None:
    """A program that torch knows nothing of still has its device; a variant on the processor has none."""
    torch = {"accelerator.kind": "cuda", "device.1.uuid": "u", "device.1.pci": "p", "variant.device": "cuda:1"}
    assert device_places(torch) == {"cuda:1": ("u", "p")}
    program = {"variant.device": "cuda:1", "variant.devices": "2", "driver.visible": f"{FIRST}, {SECOND}"}
    assert device_places(program) == {"cuda:1": (SECOND, None)}
    assert device_places({"variant.device": "cpu", "driver.visible": FIRST}) == {}


GREEDY = """
import os, pathlib, time
used = pathlib.Path(os.environ["LAB_FAKE_NVML"]) / "used"
def greedy(inputs):
    for number, (one, text) in enumerate(inputs):
        used.write_text(str((3 if number < 8 else 1) * 2**30))
        time.sleep(0.08)
        yield one, "short"
def dies(inputs):
    yield from greedy(inputs)
    os.kill(os.getpid(), 9)
def loses(inputs):
    yield next(inputs)[0], "short"
    used.with_name("lost").touch()
    raise RuntimeError("unspecified launch failure")
"""


def test_a_run_samples_the_whole_device_and_counts_its_energy(nvml: Path, tmp_path: Path) -> None:
    """The peak in the middle of the pass is seen by the runner, also when the worker dies; scopes stand beside it."""
    variants = [fast_campaign.variant(name, name, device="cuda:0") for name in ("greedy", "dies", "loses")]
    fast_campaign.write(tmp_path, variants, repetitions=1, warm_up={"passes": 0, "inputs": 0})
    (tmp_path / "work.py").write_text(GREEDY)
    (nvml / "used").write_text(str(2**30))
    greedy, dies, loses = run_campaign(
        tmp_path, fast_campaign.read(tmp_path), observe=lambda _: None, on_attempt=lambda _: None
    ).records
    assert (greedy.attempt.outcome, dies.attempt.outcome) == ("completed", "failed")
    for record in (greedy, dies):
        assert record.attempt.peak_device_bytes == 3 * 2**30
        (device,) = record.details.devices
        assert (device.device, device.uuid, device.peak_device_bytes) == ("cuda:0", FIRST, 3 * 2**30)
        assert record.details.facts["scope.peak_device_bytes"].startswith("nvml: what all processes have taken")
        assert (record.attempt.peak_allocated_bytes, record.attempt.peak_reserved_bytes) == (None, None)
        assert "peak_device_bytes" not in record.details.missing
    assert (loses.attempt.outcome, loses.attempt.completed_inputs) == ("failed", 1)
    assert loses.details.ended_because is not None
    assert loses.details.ended_because.key == "ended.device_lost"
    assert loses.attempt.missing_reason is not None
    assert "périphérique" in loses.attempt.missing_reason
    assert greedy.attempt.energy_j == 5
    assert greedy.details.readings["start.cuda:0.power_limit_w"] == 450
    assert greedy.details.readings["end.cuda:0.other_processes"] == 1
    assert greedy.details.facts["end.cuda:0.throttled"] == "power_cap, thermal"
    assert dies.attempt.energy_j is None
    assert dies.details.missing["energy_j"] == "missing.no_energy_counter"
    seen = read_environments(tmp_path)[greedy.attempt.environment or ""]
    assert seen.device_names == ("Invented RTX 1",)
    assert seen.facts["driver.visible"] == f"{FIRST}, {SECOND}"
    assert json.loads((tmp_path / "attempts" / greedy.attempt.attempt_id / "attempt.json").read_text())["details"]
