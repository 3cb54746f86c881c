"""cgroups where the machine has version 2 only, and where it has version 1 only."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guest.conftest import Observed

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def assert_filled_and_removed(seen: dict[str, Any]) -> None:
    """Both children were found and ended, and their groups are gone."""
    assert len(seen["children"]) == 2
    assert seen["found"] == seen["children"]
    assert seen["ended_by_kill"] == [True, True]
    assert not seen["group_is_left"]


@VERSIONS
def test_only_this_version_is_seen(observed: Observed, version: int) -> None:
    seen = observed(f"v{version} groups")
    assert seen["versions"] == [version]
    assert seen["holding"]["version"] == version


@VERSIONS
def test_nested_groups_are_filled_found_and_removed(observed: Observed, version: int) -> None:
    assert_filled_and_removed(observed(f"v{version} groups"))


def test_of_version_1_the_pids_hierarchy_is_chosen(observed: Observed) -> None:
    assert observed("v1 groups")["holding"]["controllers"] == ["pids"]


def test_a_v2_caller_in_a_group_of_its_own_stays_inside_it(observed: Observed) -> None:
    seen = observed("v2 nested")
    assert seen["holding"]["own_group"] == seen["outer"]
    assert_filled_and_removed(seen)


def test_a_v1_cpuset_inherits_what_lets_it_be_joined(observed: Observed) -> None:
    seen = observed("v1 cpuset")
    assert seen["bare_group_refuses"] == "ENOSPC"
    assert seen["contents"] == seen["parents"]
    assert_filled_and_removed(seen)
