"""What was observed on a machine is kept under its own fingerprint, and a change of it is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.errors import InvalidInputError
from lab.model.campaign import Environment
from lab.store.environments import fingerprint, read_environments, write_environment

TEXTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)


def environment(facts: dict[str, str], *names: str) -> Environment:
    """An environment under its own fingerprint."""
    return Environment(fingerprint(facts, names), names, facts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(TEXTS, st.lists(st.text(max_size=5), max_size=2))
def test_an_environment_comes_back_under_its_fingerprint(
    tmp_path: Path, facts: dict[str, str], names: list[str]
) -> None:
    """The order of facts does not count, that of devices does; writing it again changes nothing."""
    shutil.rmtree(tmp_path / "environments", ignore_errors=True)
    seen = environment(facts, *names)
    write_environment(tmp_path, seen)
    write_environment(tmp_path, seen)
    assert read_environments(tmp_path) == {seen.fingerprint: seen}
    assert fingerprint(dict(reversed(facts.items())), names) == seen.fingerprint
    assert len(seen.fingerprint) == 16


def test_an_environment_that_was_changed_is_named(tmp_path: Path) -> None:
    """With those that are damaged, all at once."""
    first, second = environment({"torch": "2.13.0"}, "H200"), environment({"torch": "2.12.0"})
    for one in (first, second):
        write_environment(tmp_path, one)
    base = tmp_path / "environments"
    path = base / f"{first.fingerprint}.json"
    path.write_text(path.read_text().replace("2.13.0", "2.14.0"))
    (base / f"{second.fingerprint}.json").write_text('{"facts": {}, "device_names": [3]}')
    with pytest.raises(InvalidInputError) as raised:
        read_environments(tmp_path)
    assert sorted(one.slug for one in raised.value.faults) == ["environment-altered", "environment-not-one"]


def test_an_environment_under_another_name_is_an_error_of_ours(tmp_path: Path) -> None:
    """A file's name is made from what it says: it cannot be a path either."""
    with pytest.raises(ValueError, match="evil"):
        write_environment(tmp_path, Environment("../evil", (), {}))
    assert read_environments(tmp_path) == {}
