"""Settings that are written without sysctl, of the namespace that the tests run in."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from netshaper.settings import write_settings
from traces.errors import EmulationError

# What it is given is what it has: nothing changes for this machine.
SETTING = "net.ipv4.ip_default_ttl"
VALUE = Path("/proc/sys", *SETTING.split(".")).read_text().strip()

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may write settings")


def test_a_setting_has_its_value_afterwards() -> None:
    write_settings({SETTING: VALUE})
    assert Path("/proc/sys", *SETTING.split(".")).read_text().strip() == VALUE


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("net.ipv4.no_such_setting", "1", "net.ipv4.no_such_setting: "),
        (SETTING, "nonsense", f"{SETTING}: Invalid argument"),
        (SETTING, f"{VALUE} ", f"{SETTING}: set to {VALUE} , found {VALUE}"),
    ],
)
def test_what_the_kernel_does_not_hold_then_is_an_error(
    name: str, value: str, problem: str
) -> None:
    with pytest.raises(EmulationError, match=re.escape(problem)):
        write_settings({name: value})
