"""What is typed into the calculator: numbers, moments, tasks, and the link that holds them."""

from __future__ import annotations

import pytest
from calculator_pages import FIXED, FULL, TASKS, Open


@pytest.mark.parametrize("typed", ["1.5", "1,234.5", "-3", "0", "1e3", "abc", "1 000", "NaN"])
def test_what_could_mean_two_numbers_is_refused_in_words(open_page: Open, typed: str) -> None:
    """In French a point is no decimal mark: the field says which form it wants, and no answer is given."""
    page = open_page("calculator/fr.html", "#gpu=4090&window=96")
    page.locator("#hours").fill(typed)
    assert "par exemple 96,5" in page.locator("#hours-fault").inner_text()
    assert page.locator("#hours").get_attribute("aria-invalid") == "true"
    assert "à corriger" in page.locator("#answer").inner_text()
    for name in ("lots", "periods", "accepted"):
        page.locator(f"#{name}").fill("1,5")
        assert "nombre entier" in page.locator(f"#{name}-fault").inner_text()
    assert page.locator("#packages > li").count() == 0


def test_a_time_that_exists_twice_is_asked_about(open_page: Open) -> None:
    """Both readings are offered; the one that is taken holds, also in the link."""
    page = open_page(fragment="#gpu=4090&start=2026-10-25T02:30&end=2026-10-27T09:00&tz=Europe/Paris")
    fault = page.locator("#start-fault")
    assert "2026-10-25 02:30 exists twice in Europe/Paris" in fault.inner_text()
    names = fault.get_by_role("button").all_inner_texts()
    assert [name[-9:] for name in names] == ["UTC+02:00", "UTC+01:00"]
    fault.get_by_role("button").nth(1).click()
    assert fault.is_hidden()
    assert f"54.5{FIXED}h" in page.locator("#reading").inner_text()
    assert "start=2026-10-25T02:30%2B01:00" in page.url
    again = open_page(fragment=page.url[page.url.index("#") :])
    assert f"54.5{FIXED}h" in again.locator("#reading").inner_text()
    again.locator("#start").fill("2026-10-25T02:31")
    assert "exists twice" in again.locator("#start-fault").inner_text()


def test_a_time_that_does_not_exist_is_refused_with_both_readings(open_page: Open) -> None:
    """Clocks go over it: either reading can be taken, and the field then shows that time."""
    page = open_page(fragment="#gpu=4090&start=2027-03-26T09:00&end=2027-03-28T02:30&tz=Europe/Paris")
    fault = page.locator("#end-fault")
    assert "does not exist in Europe/Paris" in fault.inner_text()
    fault.get_by_role("button").nth(0).click()
    assert page.locator("#end").input_value() == "2027-03-28T03:30"
    assert f"41.5{FIXED}h" in page.locator("#reading").inner_text()


def test_a_window_has_two_ends_in_their_order(open_page: Open) -> None:
    """One end alone, an end before its start and a zone that nobody knows are said where they are."""
    page = open_page(fragment="#gpu=4090&start=2026-11-02T09:00&tz=Europe/Paris")
    assert page.locator("#end-fault").inner_text() == "State this moment too."
    page.locator("#end").fill("2026-11-02T09:00")
    assert page.locator("#end-fault").inner_text() == "The end must come after the start."
    page = open_page(fragment="#gpu=4090&start=2026-11-02T09:00&end=2026-11-06T09:00&tz=Europe/Pariss")
    assert "does not know the time zone Europe/Pariss" in page.locator("#zone-fault").inner_text()


def test_tasks_give_the_window_and_their_waiting(open_page: Open) -> None:
    """Overlaps count once, waiting counts; a task is added, corrected, removed, and the link holds them all."""
    page = open_page(fragment=TASKS)
    said = page.locator("#reading").inner_text()
    assert f"97{FIXED}h. Tasks 50{FIXED}h, waiting 47{FIXED}h." in said
    assert "covers the 97" in page.locator("#answer").inner_text()
    page.get_by_role("button", name="Add a task").click()
    task = page.get_by_role("group", name="Task 4")
    task.get_by_label("Name").fill("Late")
    assert "State a date" in task.inner_text()
    task.get_by_label("Start").fill("2026-10-27T08:30")
    assert "State this moment too." in task.inner_text()
    task.get_by_label("End").fill("2026-10-27T08:30")
    assert "The end must come after the start." in task.inner_text()
    assert "corrected" in page.locator("#answer").inner_text()
    task.get_by_label("End").fill("2026-10-28T09:00")
    assert f"121{FIXED}h. Tasks 74{FIXED}h, waiting 47{FIXED}h." in page.locator("#reading").inner_text()
    again = open_page("calculator/fr.html", page.url[page.url.index("#") :])
    assert f"Tâches 74{FIXED}h, attente 47{FIXED}h." in again.locator("#reading").inner_text()
    assert again.get_by_label("Nom").nth(3).input_value() == "Late"
    page.get_by_role("button", name="Remove: Task 2").click()
    assert f"Tasks 34{FIXED}h, waiting 87{FIXED}h." in page.locator("#reading").inner_text()
    for _ in range(3):
        page.get_by_role("button", name="Remove: Task 1").click()
    assert page.get_by_role("group", name="Task 1").get_by_label("Name").input_value() == ""
    assert page.locator("#answer").inner_text().startswith("Enter your access window")


def test_a_task_s_time_that_exists_twice_is_asked_about(open_page: Open) -> None:
    """Both readings, in the row of the task; the one that is taken holds, also in the link."""
    page = open_page(fragment="#gpu=4090&task=2026-10-25T02:30~2026-10-25T09:00~run&tz=Europe/Paris")
    page.get_by_role("group", name="Task 1").get_by_role("button", name="02:30 UTC+01:00").click()
    assert f"6.5{FIXED}h. Tasks 6.5{FIXED}h" in page.locator("#reading").inner_text()
    assert "task=2026-10-25T02:30%2B01:00~" in page.url


def test_the_link_restores_every_entry(open_page: Open) -> None:
    """What is entered stands in the address; opened again, also in another language, it gives the same."""
    page = open_page()
    page.locator("#gpu").select_option("b200")
    page.locator("#lots").fill("3")
    page.get_by_label("In hours").check()
    page.locator("#hours").fill("96.5")
    page.locator("#accepted").fill("7")
    page.locator("#quality").check()
    page.locator("#hourly").fill("12.5")
    said = page.locator("#packages").inner_text()
    again = open_page(fragment=page.url[page.url.index("#") :])
    assert again.locator("#packages").inner_text() == said
    again.get_by_role("link", name="Français").click()
    assert again.locator("html").get_attribute("lang") == "fr"
    assert again.locator("#hours").input_value() == "96,5"
    assert f"887,57{FIXED}USD" in again.locator("#packages").inner_text()
    again.get_by_role("button", name="Recommencer").click()
    assert again.locator("#hours").input_value() == ""
    assert again.url.endswith("#gpu=rtx-4090&lots=1&periods=1")


def test_the_link_is_copied(open_page: Open) -> None:
    """The page says whether copying worked."""
    page = open_page(fragment=FULL)
    page.get_by_role("button", name="Copy the link").click()
    assert page.locator("#copied").inner_text() == "The link is copied. It restores these entries."
