"""A campaign whose work is a Python function that takes as long as it is told: for tests of how attempts end.

Run as a program, it runs the campaign in the folder it is given: the runner that tests kill.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lab.measure.runner import run_campaign
from lab.model.campaign import Campaign
from lab.model.manifest import Manifest
from lab.model.protocol import Protocol
from lab.store.attempts import read_records
from lab.store.corpus import read_corpus

WORK = """
import os, signal, subprocess, sys, time

def steady(inputs, settings):
    for number, (one, text) in enumerate(inputs):
        time.sleep(0.01)
        yield one, "short"

def slow_after_five(inputs):
    for number, (one, text) in enumerate(inputs):
        if number >= 5:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            open("five-are-done", "w").write(str(os.getpid()))
            time.sleep(60)
        yield one, "short"

def raises_after_three(inputs):
    for number, (one, text) in enumerate(inputs):
        if number == 3:
            raise ValueError(f"no model of {os.path.expanduser('~')} here")
        yield one, "short"

def runs_out_of_memory(inputs):
    yield next(inputs)[0], "short"
    raise MemoryError

def kills_itself(inputs):
    yield next(inputs)[0], "short"
    os.kill(os.getpid(), signal.SIGKILL)

def leaves(inputs):
    yield next(inputs)[0], "short"
    os._exit(3)

def not_text(inputs):
    yield next(inputs)[0], 1

calls = 0

def remembers(inputs):
    global calls
    calls += 1
    with open("calls", "a") as file:
        file.write(f"{os.getpid()} {calls}\\n")
    for one, text in inputs:
        yield one, "short"

def dies_in_its_third_call(inputs):
    global calls
    calls += 1
    with open("calls", "a") as file:
        file.write(f"{os.getpid()} {calls}\\n")
    for one, text in inputs:
        yield one, "short"
        if calls == 3:
            os.kill(os.getpid(), signal.SIGKILL)

GETS_AWAY = "import os, sys, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); " \\
    "open('away', 'w').write(str(os.getpid())); time.sleep(60)"

def leaves_one_behind(inputs):
    subprocess.run([sys.executable, "-c", GETS_AWAY], check=True)
    while not os.path.exists("away") or not open("away").read():
        time.sleep(0.01)
    for one, text in inputs:
        yield one, "short"

def leaves_one_and_waits(inputs):
    yield from leaves_one_behind(inputs)
    time.sleep(60)

def deaf(inputs):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield next(inputs)[0], "short"
    time.sleep(60)
"""


def variant(name: str, function: str = "steady", **more: object) -> dict[str, Any]:
    """One variant of the `python` workload."""
    return {"id": name, "workload": "python", "function": f"work:{function}", **more}


def write(
    folder: Path, variants: list[dict[str, Any]], *, inputs: int = 12, repetitions: int = 3, **run: object
) -> None:
    """Make the campaign's files; `run` is its run policy."""
    folder.mkdir(exist_ok=True)
    rows = [{"id": f"{number:03}é", "text": "mot " * (number % 5 + 1), "label": "short"} for number in range(inputs)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "work.py").write_text(WORK)
    corpus = {"id": "texts", "path": "corpus.jsonl", "reference_column": "label", "labels": ["short", "long"]}
    policy = {"warm_up": {"passes": 1, "inputs": 2}, **run}
    manifest = {"schema": 1, "name": "fast", "language": "fr", "corpora": [corpus], "run": policy, "variants": variants}
    (folder / "declared.json").write_text(json.dumps({"manifest": manifest, "repetitions": repetitions}))


def read(folder: Path) -> Campaign:
    """The campaign as its runner is given it."""
    declared = json.loads((folder / "declared.json").read_text())
    manifest = Manifest.model_validate_json(json.dumps(declared["manifest"]))
    protocol = Protocol(repetitions=declared["repetitions"], time_zone="Europe/Rome")
    corpora = {spec.id: read_corpus(folder, spec).facts for spec in manifest.corpora}
    return Campaign(manifest, protocol, corpora, read_records(folder))


if __name__ == "__main__":
    at = Path(sys.argv[1])
    run_campaign(at, read(at), observe=lambda _: None, on_attempt=lambda _: None)
