"""Who called, where sudo stands between."""

from __future__ import annotations

import pytest

from traces.caller import calling_user


@pytest.mark.parametrize(
    ("environment", "user"),
    [
        ({"SUDO_UID": "1000", "SUDO_GID": "1001"}, (1000, 1001)),
        ({"SUDO_UID": "1000"}, None),
        ({"SUDO_UID": "-1", "SUDO_GID": "1"}, None),
        ({"SUDO_UID": "root", "SUDO_GID": "root"}, None),
        ({}, None),
    ],
)
def test_who_called_sudo(environment: dict[str, str], user: tuple[int, int] | None) -> None:
    assert calling_user(environment) == user
