"""What a variant declares of its workload, checked without running anything."""

from __future__ import annotations

import pytest

from lab.model.manifest import Variant
from lab.workloads import WORKLOADS, declaration_faults, workload


@pytest.mark.parametrize("name", [one.name for one in WORKLOADS])
def test_a_workload_without_the_key_it_needs(name: str) -> None:
    """The variant and the missing key are named."""
    (found,) = declaration_faults([Variant(id="b1", workload=name)])
    assert (found.slug, found.place) == ("manifest-workload-needs", "variants.b1")
    assert found.values["name"] == workload(name).needs


def test_a_workload_that_does_not_exist() -> None:
    """The known ones are listed."""
    (found,) = declaration_faults([Variant(id="b1", workload="image-classification")])
    assert found.slug == "workload-unknown"
    assert found.values["known"] == [one.name for one in WORKLOADS]
