"""Why an attempt ended: exceptions, exit statuses, the kernel's counters; and the text of each reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from lab.errors import InvalidInputError, fault
from lab.measure.clock import barrier
from lab.measure.endings import of_exception, of_status, oom_kill_count, with_kernel
from lab.measure.journal import reasons_text
from lab.measure.memory import device_peaks, host_peak_bytes
from lab.measure.progress import PHASES
from lab.measure.readings import between, read_now
from lab.messages import LANGUAGES, messages
from lab.model.reason import reason
from lab.workloads.base import WorkloadError, signal_name

ROOMS = ("lab/measure", "lab/workloads")


def test_a_failed_allocation_on_the_host_is_out_of_memory(tmp_path: Path) -> None:
    """On the CPU torch raises a plain RuntimeError: read by what it says; another RuntimeError is a failure."""
    with pytest.raises(RuntimeError) as raised:
        torch.empty(10**15)
    assert of_exception(raised.value, tmp_path) == ("out_of_memory", reason("ended.host_memory"))
    assert of_exception(MemoryError(), tmp_path)[0] == "out_of_memory"
    assert of_exception(torch.OutOfMemoryError("CUDA out of memory"), tmp_path)[1].key == "ended.device_memory"
    assert of_exception(RuntimeError("shape"), tmp_path)[0] == "failed"
    assert of_exception(torch.AcceleratorError("device lost", 700), tmp_path)[1].key == "ended.device_failed"


def test_a_fault_of_ours_ends_an_attempt_in_its_own_words(tmp_path: Path) -> None:
    """What cannot be read in the middle of a pass is said as the readers say it, without the machine's paths."""
    found = fault("corpus-other-delimiter", file=f"{tmp_path}/out.csv", place="line 1", found=";", declared=",")
    outcome, why = of_exception(InvalidInputError(found), tmp_path)
    assert (outcome, why.key) == ("failed", "fault.corpus-other-delimiter")
    assert why.values["file"] == "./out.csv"
    assert "`;`" in messages("en").text(why.key, **why.values)
    assert of_exception(WorkloadError("model_missing", model="m"), tmp_path)[1] == reason(
        "ended.model_missing", model="m"
    )


def test_the_kernels_kill_is_told_from_another() -> None:
    """Signal 9 while the kernel's counter rose is out of memory; without that it was somebody."""
    killed, exited = of_status(-9), of_status(3)
    assert with_kernel(killed, oom_kills=1) == ("out_of_memory", reason("ended.kernel_memory"))
    assert with_kernel(killed, oom_kills=0) == killed
    assert with_kernel(of_status(-15), oom_kills=1) == of_status(-15)
    assert with_kernel(exited, oom_kills=1) == exited
    assert oom_kill_count() >= 0
    assert signal_name(250) == "250"


def test_without_an_accelerator_there_is_no_counter_and_nothing_to_wait_for() -> None:
    """Device memory is absent, not 0; the barrier does nothing; the host's peak is there."""
    assert not torch.accelerator.is_available()
    for device in ("cpu", "cuda:0"):
        assert device_peaks(device) == ()
        barrier(device)()
    assert host_peak_bytes() > 2**20


def test_readings_tell_own_work_from_foreign_load() -> None:
    """CPU seconds of this process and of all others, never below nothing."""
    found = between(read_now(), read_now())
    assert set(found) >= {"start.load_1m", "end.load_1m", "pass.cpu_s", "pass.foreign_cpu_s"}
    assert all(value is None or value >= 0 for value in found.values())


def test_every_key_in_the_code_has_its_text_in_every_language(repository: Path) -> None:
    """Reasons, empty cells and faults: the slugs written in these two rooms, in English, French and Italian."""
    keys: set[str] = set()
    for path in (one for room in ROOMS for one in (repository / room).glob("*.py")):
        source = path.read_text()
        keys.update(re.findall(r'"((?:missing|ended)\.\w+)"', source))
        keys.update(f"ended.{why}" for why in re.findall(r'WorkloadError\(\s*"(\w+)"', source))
        for slug in re.findall(r'\bfault\(\s*"([a-z-]+)"', source):
            keys |= {f"fault.{slug}", f"fault.{slug}.do"}
    keys.update(f"phase.{phase}" for phase in PHASES)
    assert len(keys) > 50
    for language in LANGUAGES:
        assert sorted(key for key in keys if not messages(language).has(key)) == []


def test_empty_cells_are_grouped_by_reason_in_the_campaigns_language() -> None:
    """Columns that share a reason stand together; why the pass ended stands in place of "did not complete"."""
    missing = {"download_s": "missing.not_needed", "duration_s": "missing.not_completed"}
    missing["compile_s"] = "missing.not_needed"
    said = reasons_text(missing, reason("ended.exited", code=3), "fr")
    assert said.startswith("download_s, compile_s\u202f: ")
    assert "duration_s\u202f: Le processus s\u2019est terminé de lui-même avec le code 3" in said
