"""A second campaign, nothing like the demo: tickets in French, ids with zeros and accents, a real tiny model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from openpyxl import load_workbook

LABELS = ("facturation", "panne")
_WORDS = {
    "facturation": ("facture", "montant", "remboursement", "paiement", "prix", "erreur de calcul"),
    "panne": ("écran", "ne démarre plus", "coupure", "réseau", "redémarrage", "bruit"),
}
PROTOCOL: Mapping[str, object] = {
    "question": "Quel batch trie tous les tickets avant vendredi ?",
    "scenario": "Un corpus traité hors ligne.",
    "metric": "accuracy",
    "threshold": 0.5,
    "tolerance": 0.1,
    "reference_variant": "b1",
    "repetitions": 2,
    "time_zone": "Europe/Paris",
    "deadline": datetime(2027, 3, 5, 18, 0),  # noqa: DTZ001  (a cell holds a local time; the zone is a field of its own)
    "currency": "USD",
    "planned_deliverables": "tickets de 2026",
}

# How every manifest over these tickets begins; more keys of the corpus may follow.
CORPUS = """\
schema = 1
name = "tickets"
language = "fr"

[[corpora]]
id = "tickets-2026"
path = "tickets.csv"
id_column = "n°"
text_column = "texte"
reference_column = "rubrique"
labels = ["facturation", "panne"]
"""

MANIFEST = (
    CORPUS
    + """
[run]
warm_up = { passes = 1, inputs = 4 }
timeout_s = 120

[defaults]
gpu = "rtx-4090"
device = "cpu"
threads = 1
max_length = 64

[[variants]]
id = "b1"
model = "models/tickets"
batch_size = 1

[[variants]]
id = "b4"
model = "models/tickets"
batch_size = 4

[[variants]]
id = "absent"
model = "models/nowhere"
batch_size = 4
"""
)


def rows(count: int = 24) -> list[tuple[str, str, str]]:
    """(id, text, label) of `count` tickets; ids such as `001` and `é-002`, each once."""
    found = []
    for number in range(count):
        label = LABELS[number % 2]
        words = _WORDS[label]
        text = f"Bonjour, {words[number % 6]} et {words[(number // 2) % 6]}, ticket {number}."
        found.append((f"é-{number:03d}" if number % 3 == 0 else f"{number:03d}", text, label))
    return found


def train(folder: Path) -> Path:
    """Train the tiny model into `folder`/tickets and return that folder."""
    from lab.workloads.training import Recipe, build_tokenizer, train_classifier

    texts = [(text, label) for _, text, label in rows(60)]
    recipe = Recipe(LABELS, 62, hidden=32, intermediate=64, heads=2, epochs=8, batch_size=8)
    train_classifier(texts, build_tokenizer((text for text, _ in texts), 300), folder / "tickets", recipe)
    return folder / "tickets"


def write_corpus(folder: Path, tickets: list[tuple[str, str, str]]) -> None:
    """Write `tickets.csv` as a spreadsheet does: a byte-order mark, CRLF."""
    lines = ["n°,texte,rubrique", *(f'{one},"{text}",{label}' for one, text, label in tickets)]
    (folder / "tickets.csv").write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())


def fill_protocol(workbook: Path, values: Mapping[str, object]) -> None:
    """Type `values` into the `protocol` sheet, as a person does who saves with another program."""
    book = load_workbook(workbook)
    sheet = book["protocol"]
    header = next(row for row in sheet.iter_rows() if [cell.value for cell in row][:2] == ["field", "value"])
    column = header[1].column
    for row in sheet.iter_rows(min_row=header[0].row + 1):
        if row[0].value in values:
            sheet.cell(row[0].row, column).value = values[row[0].value]
    book.save(workbook)


def build(folder: Path, model: Path, values: Mapping[str, object] = PROTOCOL) -> Path:
    """A whole campaign in `folder`, filled in as its three people would, nothing measured yet."""
    from lab.cli import main

    assert main(["init", str(folder), "--lang", "fr", "--name", "tickets"]) == 0
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    write_corpus(folder, rows())
    shutil.copytree(model, folder / "models" / "tickets")
    fill_protocol(folder / "campaign.xlsx", values)
    return folder


def predictions(folder: Path, attempt_id: str) -> list[dict[str, object]]:
    """The predictions of one attempt, in file order."""
    path = folder / "attempts" / attempt_id / "predictions.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
