"""What a run over a Ray cluster decides and carries, without a cluster: nodes, files, refusals."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import fast_campaign
import pytest

from lab.errors import InvalidInputError, OutsideFailureError
from lab.measure import ray_files
from lab.measure.engines import EngineChoice
from lab.measure.ray_nodes import Node, demands, described, fitting
from lab.measure.runner import run_campaign
from lab.model.manifest import Variant


def test_a_node_fits_by_everything_that_a_variant_declares() -> None:
    """Processors, accelerators, their type and own resources; a node that was lost is no node any more."""
    variant = Variant(
        id="v", device="cuda:0", devices=2, threads=3, accelerator_type="H100", resources={"fast_disk": 1}
    )
    wanted = demands(variant)
    assert wanted == {"CPU": 3, "GPU": 2, "accelerator_type:H100": 0.001, "fast_disk": 1}
    whole = {"CPU": 8.0, "GPU": 2.0, "accelerator_type:H100": 1.0, "fast_disk": 1.0}
    nodes = [
        Node(str(number), "host", {**whole, **less})
        for number, less in enumerate(({}, {"GPU": 1.0}, {"CPU": 2.0}, {"fast_disk": 0.0}))
    ]
    assert [one.id for one in fitting(nodes, wanted)] == ["0"]
    assert fitting(nodes, wanted, lost={"0"}) == []
    assert demands(Variant(id="v")) == {"CPU": 1}
    assert described(wanted) == ["CPU 3", "GPU 2", "accelerator_type H100", "fast_disk 1"]


def test_files_reach_a_place_whole_or_not_at_all(tmp_path: Path) -> None:
    """Shared only when every fingerprint is the same; sent ones are checked; what is no input of a pass stays home."""
    folder, root = tmp_path / "campaign", tmp_path / "root"
    for name in (
        "corpus.jsonl",
        "models/m/weights",
        "attempts/x/attempt.json",
        ".run.lock",
        "campaign.xlsx",
        "report/i",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    wanted = ray_files.listing(folder)
    assert list(wanted) == ["corpus.jsonl", "models/m/weights"]
    assert not ray_files.take_shared(folder, {**wanted, "corpus.jsonl": "0" * 64}, root)
    assert not root.exists()
    assert ray_files.take_shared(folder, wanted, root)
    assert ray_files.listing(root) == wanted


def test_files_are_sent_in_parts_and_held_against_their_fingerprints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No load is larger than its limit, small files share one, an empty file arrives; another byte is told."""
    monkeypatch.setattr(ray_files, "_PIECE", 10)
    folder, root = tmp_path / "campaign", tmp_path / "root"
    (folder / "models").mkdir(parents=True)
    for name, size in (("a", 3), ("b", 0), ("c", 4), ("models/big", 31), ("z", 20)):
        (folder / name).write_bytes(bytes(number % 251 for number in range(size)))
    wanted = ray_files.listing(folder)
    loads = list(ray_files.pieces(folder, wanted))
    assert all(sum(len(one.data) for one in load) <= 10 for load in loads)
    assert [one.name for one in loads[0]] == ["a", "b", "c", "models/big"]
    root.mkdir()
    with pytest.raises(OutsideFailureError, match="ray-file-altered"):
        ray_files.checked(root, wanted)
    for load in loads:
        ray_files.receive(root, load)
    ray_files.checked(root, wanted)
    assert ray_files.listing(root) == wanted
    (root / "models" / "big").write_bytes(b"other")
    with pytest.raises(OutsideFailureError, match="ray-file-altered"):
        ray_files.checked(root, wanted)
    with pytest.raises(InvalidInputError):
        ray_files.receive(root, [ray_files.Piece("../out.txt", 0, b"x")])


def test_links_within_the_campaign_are_its_files_and_reach_a_place_as_such(tmp_path: Path) -> None:
    """A model behind a link is read by a pass, so it goes along; a link out of the campaign does not, a loop ends."""
    folder, root = tmp_path / "campaign", tmp_path / "root"
    (folder / "models" / "v3").mkdir(parents=True)
    (folder / "models" / "v3" / "weights").write_text("w")
    (folder / "models" / "v3" / "again").symlink_to("weights")
    (folder / "models" / "current").symlink_to("v3")
    (folder / "models" / "v3" / "loop").symlink_to("../../models")
    (tmp_path / "secret").write_text("s")
    (folder / "out").symlink_to(tmp_path / "secret")
    wanted = ray_files.listing(folder)
    names = [f"models/{one}/{name}" for one in ("current", "v3") for name in ("again", "weights")]
    assert list(wanted) == names
    assert ray_files.take_shared(folder, wanted, root)
    assert {name: (root / name).read_text() for name in names} == dict.fromkeys(names, "w")
    assert not any((root / name).is_symlink() for name in names)


def test_an_attempt_that_came_back_altered_is_not_taken(tmp_path: Path) -> None:
    """One file with other bytes than its fingerprint, or no record among them: nothing is written."""
    at = tmp_path / "attempt"
    at.mkdir()
    (at / "attempt.json").write_text("{}")
    (at / "log.txt").write_text("said")
    whole = ray_files.packed(at)
    altered = {**whole, "log.txt": replace(whole["log.txt"], data=b"other")}
    for files in (altered, {"log.txt": whole["log.txt"]}):
        assert not ray_files.unpack(files, tmp_path / "to", "attempt.json")
    assert not (tmp_path / "to").exists()
    assert ray_files.unpack(whole, tmp_path / "to", "attempt.json")
    assert sorted(one.name for one in (tmp_path / "to").iterdir()) == ["log.txt"]


def test_what_ray_cannot_do_is_refused_by_name_before_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process for all passes of a variant; Ray that is not installed; the engine of this machine refuses neither."""
    fast_campaign.write(tmp_path, [fast_campaign.variant("v")], process="per-variant")
    manifest = fast_campaign.read(tmp_path).manifest
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: object() if name == "ray" else found(name, *rest)
    )
    assert [one.slug for one in EngineChoice("ray").faults(manifest)] == ["ray-per-variant"]
    for address in ("ray://head:10001", "head", "local", "head:", "a b:1"):
        assert [one.slug for one in EngineChoice("ray", address).faults(manifest)] == ["ray-address-bad"]
    fast_campaign.write(tmp_path, [fast_campaign.variant("v"), fast_campaign.variant("w", device="cuda:1")])
    manifest = fast_campaign.read(tmp_path).manifest
    (numbered,) = EngineChoice("ray").faults(manifest)
    assert (numbered.slug, numbered.place) == ("ray-device-number", "variants.w.device")
    assert EngineChoice("ray").faults(manifest, {"v"}) == ()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else found(name, *rest))
    assert [one.slug for one in EngineChoice("ray").faults(manifest)] == ["ray-extra-missing"]
    assert EngineChoice().faults(manifest) == ()
    with pytest.raises(InvalidInputError, match="ray-extra-missing"):
        run_campaign(
            tmp_path, fast_campaign.read(tmp_path), observe=print, on_attempt=print, engine=EngineChoice("ray")
        )
