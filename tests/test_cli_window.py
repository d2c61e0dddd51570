"""`lab window` and the catalogues of `lab price`, as they are typed."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import small_campaign
from openpyxl import load_workbook

from lab.cli import main
from lab.messages import LANGUAGES

TYPED = ("--start", "2026-10-23T09:00", "--end", "2026-10-27T09:00", "--tz", "Europe/Paris")
SKYPILOT = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Region,SpotPrice,Price\n"
    "1x,RTX4090,1.0,8,32,,eu,0.31,0.69\n"
    "8x,A100-80GB,8.0,96,1152,,us,12.3,\n"
)


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command, no-break spaces as spaces."""
    capsys.readouterr()
    code = main(list(argv))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out.replace("\u00a0", " ").replace("\u202f", " "), err


def answered(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    """The JSON of a command that succeeds."""
    code, out, _ = printed(capsys, *argv, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_window_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the contract come first, exactly; 97 h across the clock change."""
    found = answered(capsys, "window", *TYPED)
    assert list(found)[:5] == ["hours", "start", "end", "time_zone", "packages"]
    assert {key: found[key] for key in list(found)[:5]} == {
        "hours": 97, "start": "2026-10-23T09:00:00+02:00", "end": "2026-10-27T09:00:00+01:00",
        "time_zone": "Europe/Paris",
        "packages": [
            {"days": 3, "covers": False, "hours_left": -25}, {"days": 7, "covers": True, "hours_left": 71},
            {"days": 30, "covers": True, "hours_left": 623},
        ],
    }  # fmt: skip
    assert found["beyond"] is None


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", ("97 h", "25 h are missing", "440.00 USD, 4 cards", "2026-09-24", "met, 24 h left")),
        ("fr", ("97 h", "il manque 25 h", "440,00 USD, 4 cartes", "2026-09-24", "tenue, il reste 24 h")),
        ("it", ("97 h", "mancano 25 h", "440,00 USD, 4 schede", "2026-09-24", "rispettata, restano 24 h")),
    ],
)
def test_the_window_in_words(language: str, wanted: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Hours, deadline, each package with its hours, and the price with the version of its catalogue."""
    options = ("--gpu", "rtx 4090", "--lots", "4", "--deadline", "2026-10-28T09:00", "--lang", language)
    code, out, _ = printed(capsys, "window", *TYPED, *options)
    assert code == 0
    assert all(part in out for part in wanted)


def test_seconds_are_shown_where_there_are_any(capsys: pytest.CaptureFixture[str]) -> None:
    """72 h and one second end at 09:00:01; a start at 09:00 has no seconds to show."""
    times = ("--start", "2026-11-02T09:00", "--end", "2026-11-05T09:00:01", "--tz", "Europe/Paris")
    out = printed(capsys, "window", *times, "--lang", "fr")[1]
    assert "72,000278 h, du 2 novembre 2026, 09:00 UTC+01:00 au 5 novembre 2026, 09:00:01 UTC+01:00" in out


def test_a_missed_deadline_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """By how many hours, to the second."""
    found = answered(capsys, "window", *TYPED, "--deadline", "2026-10-27T08:59:59")
    assert (found["deadline_met"], found["deadline_hours_left"]) == (False, "-0.000278")


def test_beyond_the_longest_package_extra_periods_are_priced(capsys: pytest.CaptureFixture[str]) -> None:
    """Never by itself: the number of periods and what they commit stand there."""
    late = ("--start", "2026-11-02T09:00", "--end", "2026-11-12T09:00", "--tz", "UTC", "--gpu", "b200")
    found = answered(capsys, "window", *late)["beyond"]
    assert (found["days"], found["periods"], found["extra_periods"]) == (7, 2, 1)
    assert [(one["committed"], one["extra_committed"]) for one in found["offers"]] == [("4142.00", "2071.00")]
    _, out, _ = printed(capsys, "window", *late, "--lang", "en")
    assert "2 periods cover the window (days in each: 7), that is 1 more" in out
    assert "extra periods (1): 2071.00 USD" in out


def test_tasks_of_a_csv_give_one_window_per_variant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Overlaps counted once, waiting shown; a file that names no variant gives one window."""
    path = tmp_path / "tasks.csv"
    head, shared = "variant,task,start,end,notes\n", ",set up,2026-11-02T09:00,2026-11-02T12:00,\n"
    own = "b8,run,2026-11-02T11:00,2026-11-02T18:00,\nb1,run,2026-11-03T09:00,2026-11-03T10:00,night before\n"
    path.write_text(head + shared + own, encoding="utf-8")
    found = answered(capsys, "window", "--tasks", str(path), "--tz", "Europe/Paris")["windows"]
    assert [(one["variant"], one["hours"], one["task_hours"], one["waiting_hours"]) for one in found] == [
        ("b8", 9, 9, 0), ("b1", 25, 4, 21),
    ]  # fmt: skip
    path.write_text(head + shared, encoding="utf-8")
    assert answered(capsys, "window", "--tasks", str(path), "--tz", "Europe/Paris")["hours"] == 3


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign with a calendar: tasks of all variants and of one."""
    (tmp_path / "model").mkdir()
    folder = small_campaign.build(tmp_path / "campaign", tmp_path / "model")
    workbook = load_workbook(folder / "campaign.xlsx")
    sheet = workbook["calendar"]
    header = next(row for row in sheet.iter_rows() if row[0].value == "variant")
    tasks: list[tuple[str | None, str, str, str]] = [
        (None, "préparer", "2026-10-23T09:00", "2026-10-23T12:00"),
        ("b4", "récupérer", "2026-10-27T08:00", "2026-10-27T09:00"),
    ]
    for offset, cells in enumerate(tasks, 1):
        for column, value in enumerate(cells, 1):
            moment = datetime.fromisoformat(value) if value and value.startswith("2026-") else value
            sheet.cell(header[0].row + offset, column).value = moment
    workbook.save(folder / "campaign.xlsx")
    return folder


def test_the_calendar_of_a_campaign_gives_each_variant_s_window(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the protocol's time zone, against its deadline, priced from its own catalogue for the manifest's card."""
    found = {one["variant"]: one for one in answered(capsys, "window", "--campaign", str(campaign))["windows"]}
    assert (found["b1"]["hours"], found["b4"]["hours"], found["b4"]["waiting_hours"]) == (3, 97, 93)
    assert found["b4"]["time_zone"] == "Europe/Paris"
    assert found["b4"]["deadline"] == "2027-03-05T18:00:00+01:00"
    week = next(one for one in found["b4"]["packages"] if one["days"] == 7)
    assert [(one["committed"], one["catalogue_version"]) for one in week["offers"]] == [("110.00", "2026-09-24")]
    code, out, _ = printed(capsys, "window", "--campaign", str(campaign))
    assert code == 0
    assert "accès : 97 h, du 23 octobre 2026, 09:00 UTC+02:00" in out


def test_a_card_that_no_catalogue_holds_is_named_with_the_near_ones(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The manifest's card is not guessed to be another one: hours without prices, and why."""
    path = campaign / "manifest.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('"rtx-4090"', '"rtx-4080"'), encoding="utf-8")
    found = answered(capsys, "window", "--campaign", str(campaign))
    assert {(one["key"], one["values"]["gpu"], one["values"]["near"]) for one in found["notices"]} == {
        ("window.no_card", "rtx-4080", "rtx-4090")
    }
    assert "offers" not in found["windows"][0]["packages"][0]
    said = printed(capsys, "window", "--campaign", str(campaign), "--lang", "it")[1]
    assert "nessun catalogo in uso ha una scheda di nome rtx-4080" in said


def test_a_campaign_without_calendar_says_that_the_window_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No task, no hours: null, and a sentence."""
    (tmp_path / "model").mkdir()
    folder = small_campaign.build(tmp_path / "campaign", tmp_path / "model")
    found = answered(capsys, "window", "--campaign", str(folder))["windows"][0]
    assert (found["hours"], found["packages"]) == (None, [])
    assert "unknown" in printed(capsys, "window", "--campaign", str(folder), "--lang", "en")[1]


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        ((), 2, "--campaign"),
        (TYPED[:2], 2, "--end"),
        (TYPED[:4], 2, "--tz"),
        ((*TYPED[:4], "--tz", "Europe/Pariss"), 2, "Europe/Paris,"),
        ((*TYPED, "--tasks", "tasks.csv"), 2, "--tasks"),
        (("--campaign", ".", "--tz", "UTC"), 2, "--campaign"),
        (("--campaign", "nowhere"), 3, "nowhere"),
        (("--tasks", "nowhere.csv", "--tz", "UTC"), 3, "nowhere.csv"),
        ((*TYPED, "--gpu", "abacus"), 3, "abacus"),
        ((*TYPED, "--gpu", "4090", "--lots", "0"), 2, "--lots"),
        ((*TYPED, "--catalogue", "nowhere.csv"), 3, "nowhere.csv"),
        ((*TYPED, "--deadline", "2026-10-25T02:30"), 2, "2026-10-25T02:30+01:00"),
        (("--start", "2027-03-28T02:30", *TYPED[2:]), 2, "2027-03-28T03:30+02:00"),
        (("--start", "2026-10-27T09:00", *TYPED[2:]), 2, "--end"),
    ],
)
def test_wrong_calls_are_refused_in_each_language(
    argv: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong usage is 2, an input that cannot be read is 3, and both say what to do."""
    for language in LANGUAGES:
        found, out, err = printed(capsys, "window", *argv, "--lang", language)
        assert (found, out) == (code, "")
        assert said in err


def test_skypilot_s_catalogue_just_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recognised by its columns, with what was assumed and left out; spot only when asked for; unknown is unknown."""
    path = tmp_path / "skypilot.csv"
    path.write_text(SKYPILOT, encoding="utf-8")
    asked = ("price", "--gpu", "4090", "--window", "0.5", "--catalogue", str(path), "--lang", "en")
    found = answered(capsys, *asked)
    assert [(one["gpu"], one["committed"], one["covers_hours"]) for one in found["offers"]] == [("rtx4090", "0.69", 1)]
    assert [one["key"] for one in found["notices"]] == ["skypilot.increment", "skypilot.left_out"]
    assert "--increment-minutes" in printed(capsys, *asked)[1]
    assert answered(capsys, *asked, "--increment-minutes", "30")["offers"][0]["committed"] == "0.35"
    assert [one["spot"] for one in answered(capsys, *asked, "--spot")["offers"]] == [True, False]
    code, _, err = printed(capsys, "price", "--gpu", "a100-80gb", "--catalogue", str(path), "--lang", "en")
    assert code == 3
    assert "without a price" in err


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_column_that_skypilot_s_catalogue_lacks_is_named(
    tmp_path: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is still that catalogue, and not one of ours without all of its columns."""
    path = tmp_path / "skypilot.csv"
    path.write_text(SKYPILOT.replace("SpotPrice", "Spot"), encoding="utf-8")
    code, out, err = printed(capsys, "price", "--gpu", "4090", "--catalogue", str(path), "--lang", language)
    assert (code, out) == (3, "")
    assert "SpotPrice." in err.splitlines()[0]
    assert "catalogue_version" not in err


def test_two_prices_of_one_offer_are_named_below_the_answer(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lab price` and `lab window` show both with version and source, and say in which file and line each stands."""
    shipped = repository / "workbook" / "tarifs-forfaits.csv"
    mine = tmp_path / "mine.csv"
    mine.write_text(shipped.read_text(encoding="utf-8").replace("2071.00", "1999.00"), encoding="utf-8")
    both = ("--gpu", "b200", "--catalogue", str(mine), "--catalogue", str(shipped))
    for argv in (("price", *both), ("window", *TYPED, *both)):
        assert [one["values"]["file"] for one in answered(capsys, *argv)["notices"]] == [str(shipped)]
        said = printed(capsys, *argv, "--lang", "it")[1]
        assert f"1999.00 USD ({mine}, riga 3) e 2071.00 USD ({shipped}, riga 3)" in said
    assert "notices" not in answered(capsys, "price", "--gpu", "rtx-4090", *both[2:])


def test_packages_and_hours_of_two_catalogues_meet(
    tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--catalogue` twice: the break-even of the package and of the cloud's hourly price."""
    path = tmp_path / "skypilot.csv"
    path.write_text(SKYPILOT, encoding="utf-8")
    shipped = str(repository / "workbook" / "tarifs-forfaits.csv")
    argv = ("price", "--gpu", "rtx-4090", "--catalogue", str(path), "--catalogue", shipped, "--lang", "en")
    package = answered(capsys, *argv)["offers"][0]
    assert (package["days"], package["break_even_hours"], package["break_even_price"]) == (7, "159.42029", "0.69")
