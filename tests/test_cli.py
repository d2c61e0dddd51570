"""The command line as its three people meet it: answers, languages, exit codes, and errors that can be acted on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import small_campaign

from lab.cli import main
from lab.messages import LANGUAGES, messages

COMMANDS = (
    "demo", "init", "check", "seal", "amend", "run", "status", "judge", "report", "verify", "bundle", "price", "window",
)  # fmt: skip


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign whose model is a name only: good for everything but measuring."""
    (tmp_path / "model").mkdir()
    return small_campaign.build(tmp_path / "campaign", tmp_path / "model")


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    capsys.readouterr()
    code = main(list(argv))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_in_each_language(command: str, language: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` shows an example, and no key of the catalogues."""
    code, out, _ = printed(capsys, command, "--help", "--lang", language)
    assert code == 0
    assert f"lab {command}" in out
    assert "cli." not in out


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["--gpu", "rtx-4090", "--days", "7", "--lots", "2"], ("220.00 USD", "2")),
        (["--gpu", "B200", "--days", "7"], ("2071.00 USD", "2")),
        (["--gpu", "rtx 4090", "--days", "7", "--lots", "2", "--lang", "fr"], ("220,00 USD", "2")),
    ],
)
def test_price_in_words(argv: list[str], wanted: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The two prices the article states, with their cards, by the names people type."""
    code, out, _ = printed(capsys, "price", "--lang", "en", *argv)
    plain = out.replace("\u00a0", " ").replace("\u202f", " ")
    assert code == 0
    assert all(part in plain for part in wanted)


def test_price_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the contract; amounts are text."""
    code, out, _ = printed(capsys, "price", "--gpu", "b200", "--days", "7", "--json")
    assert code == 0
    assert json.loads(out) == {
        "gpu": "b200", "days": 7, "lots": 1, "cards": 2, "committed": "2071.00", "currency": "USD",
        "accepted_results": None, "cost_status": "not_stated", "cost_per_result": None, "periods": 1,
        "catalogue_version": "2026-09-24", "covers_hours": 168,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["price", "--gpu", "rtx-4090", "--days", "3"], 3),  # the catalogue holds no such price
        (["price", "--gpu", "abacus", "--days", "7"], 3),
        (["price", "--gpu", "rtx-4090", "--days", "seven"], 2),
        (["price", "--gpu", "rtx-4090", "--days", "7", "--lots", "0"], 2),
        (["price", "--gpu", "rtx-4090", "--days", "7", "--window", "soon"], 2),
        (["price", "--gpu", "rtx-4090", "--days", "7", "--catalogue", "nowhere.csv"], 3),
        (["price"], 2),
        (["prize"], 2),
        (["check", "--lang", "de"], 2),
        (["check", "nowhere"], 3),
        ([], 2),
    ],
)
def test_exit_codes_of_wrong_calls(argv: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage is 2, an unknown or unreadable input is 3; something is always said."""
    found, out, err = printed(capsys, *argv)
    assert found == code
    assert out + err


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("argv", "key", "facts"),
    [
        (["chek"], "no_such_command.near", {"found": "chek", "near": "check"}),
        (["zzzz"], "no_such_command", {"found": "zzzz"}),
        (["check", "a", "b"], "too_much", {"found": "b"}),
        (["check", "--nope"], "no_such_option", {"name": "--nope"}),
        (["price", "--gpu"], "needs_value", {"name": "--gpu"}),
        (["check", "--json=3"], "no_value", {"name": "--json"}),
        (["price", "--gpu", "b200", "--days", "abc"], "bad_value", {"name": "--days", "found": "abc"}),
        (["run", "--engine", "x"], "bad_choice", {"name": "--engine", "found": "x", "choices": ["local", "ray"]}),
        (["price"], "missing", {"name": "--gpu"}),
        (["init"], "missing_argument", {"name": "DIR", "line": "lab init DIR"}),
    ],
)
def test_wrong_usage_names_what_was_typed(
    argv: list[str], key: str, facts: dict[str, object], language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what can be typed instead, in the reader's language: nothing of the library's English."""
    code, _, err = printed(capsys, *argv[:1], "--lang", language, *argv[1:])
    assert (code, err) == (2, messages(language).text(f"cli.usage.{key}", **facts) + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_init_then_check(language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fresh campaign is valid as it stands but for the corpus that is still to come."""
    assert printed(capsys, "init", str(tmp_path / "new"), "--lang", language)[0] == 0
    code, out, _ = printed(capsys, "check", str(tmp_path / "new"))
    assert code == 3
    assert "corpus.jsonl" in out
    assert (tmp_path / "new" / "campaign.xlsx").is_file()


def test_init_never_overwrites(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that holds a campaign is left alone."""
    before = (campaign / "campaign.xlsx").read_bytes()
    code, _, err = printed(capsys, "init", str(campaign))
    assert code == 2
    assert "manifest.toml" in err
    assert (campaign / "campaign.xlsx").read_bytes() == before


def test_a_campaign_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Said in words, by every command that takes a folder."""
    path = tmp_path / "file"
    path.write_text("x", encoding="utf-8")
    for command in ("check", "run", "judge", "report", "status", "seal"):
        code, out, err = printed(capsys, command, str(path), "--lang", "en")
        assert code == 3
        assert str(path) in out + err


def test_a_duplicate_id_and_an_unknown_label_in_the_corpus(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are named with their lines, at once."""
    rows = small_campaign.rows()
    rows[5] = (rows[4][0], rows[5][1], rows[5][2])
    rows[7] = (rows[7][0], rows[7][1], "météo")
    small_campaign.write_corpus(campaign, rows)
    code, out, _ = printed(capsys, "check", str(campaign), "--lang", "en")
    assert code == 3
    assert rows[4][0] in out
    assert "météo" in out
    assert "line 7" in out
    assert "line 9" in out


def test_a_misspelt_key_of_the_manifest(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The key, its line, and the nearest known one."""
    path = campaign / "manifest.toml"
    text = path.read_text(encoding="utf-8").replace("batch_size = 1", "batchsize = 1")
    path.write_text(text, encoding="utf-8")
    line = text.splitlines().index("batchsize = 1") + 1
    code, out, _ = printed(capsys, "check", str(campaign), "--lang", "en")
    assert code == 3
    assert all(part in out for part in ("batchsize", "batch_size", f"line {line}"))


@pytest.mark.parametrize(("typed", "shown"), [(95, "95"), ("95 %", "95 %")])
def test_a_threshold_of_95(campaign: Path, typed: object, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused with its cell and the wanted form, not divided."""
    small_campaign.fill_protocol(campaign / "campaign.xlsx", {"threshold": typed})
    code, out, _ = printed(capsys, "check", str(campaign), "--lang", "en")
    assert code == 3
    assert "protocol!B" in out
    assert shown in out


def test_an_empty_required_field_is_asked_for_before_measuring(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A protocol without a threshold is readable, and cannot be sealed."""
    small_campaign.fill_protocol(campaign / "campaign.xlsx", {"threshold": None})
    assert printed(capsys, "check", str(campaign))[0] == 1
    code, _, err = printed(capsys, "seal", str(campaign))
    assert code == 3
    assert "threshold" in err


def test_the_plan_rotates(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab run --plan` shows each round in its order, balanced, and measures nothing."""
    code, out, _ = printed(capsys, "run", str(campaign), "--plan", "--json")
    assert code == 0
    plan = json.loads(out)
    assert [one["variant"] for one in plan["plan"]] == ["b1", "b4", "absent", "absent", "b4", "b1"]
    assert plan["left"] == 6
    assert not (campaign / "attempts").exists()


def test_run_only_a_variant_that_does_not_exist(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The known ones are listed and nothing is started."""
    code, _, err = printed(capsys, "run", str(campaign), "--only", "b16")
    assert code == 2
    assert "b16" in err
    assert "b4" in err
    assert not (campaign / "attempts").exists()


def test_errors_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` gives the faults as data too."""
    code, out, _ = printed(capsys, "judge", str(tmp_path / "nowhere"), "--json")
    assert code == 3
    assert json.loads(out)["faults"][0]["slug"] == "campaign-missing"


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cuda:", "GPU-1"])
def test_a_device_that_torch_does_not_know_is_named(
    device: str, campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By `lab check`, with the key, before anything is sealed or run."""
    with (campaign / "manifest.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[variants]]\nid = "other"\nmodel = "m"\ndevice = "{device}"\n')
    code, out, _ = printed(capsys, "check", str(campaign), "--json")
    (found,) = (one for one in json.loads(out)["faults"] if one["slug"] == "device-unknown")
    assert (code, found["place"]) == (1, "variants.other.device")


def test_what_is_empty_is_said_with_a_corpus_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that stands in the way at once: the file, and each required term with its cell."""
    assert printed(capsys, "init", str(tmp_path / "new"))[0] == 0
    _, out, _ = printed(capsys, "check", str(tmp_path / "new"), "--json")
    slugs = [one["slug"] for one in json.loads(out)["faults"]]
    assert slugs[0] == "file-missing"
    assert slugs.count("protocol-field-missing") == len(slugs) - 1 > 0
