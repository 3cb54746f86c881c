"""A machine or a user that cannot: exit code 3, one line, and what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernel.command import ROUNDELAY, roundelay, short_example


@pytest.mark.parametrize("absent", ["ip", "tc", "sysctl"])
def test_a_missing_tool_is_named_with_its_package(tmp_path: Path, absent: str) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in {"ip", "tc", "sysctl"} - {absent}:
        real = shutil.which(tool)
        assert real is not None
        (tools / tool).symlink_to(real)
    scenario = short_example(tmp_path)
    environment = {**os.environ, "PATH": str(tools)}
    done = roundelay("run", scenario, "-o", tmp_path / "out", environment=environment)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert f"'{absent}' is not found" in done.stderr
    assert "apt-get install" in done.stderr
    assert not (tmp_path / "out").exists()


def test_without_root_the_way_out_is_said(tmp_path: Path) -> None:
    scenario = short_example(tmp_path)
    code = (
        "import os,sys\n"
        # First: root's Python may be nobody else's to read.
        "import harness.cli.run\n"
        "from harness.cli.main import main\n"
        "os.setgroups([]);os.setgid(65534);os.setuid(65534)\n"
        f"sys.argv=['roundelay','run',{str(scenario)!r},'--output=/nonexistent/out']\n"
        "main()\n"
    )
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_uid == os.getuid() and directory != Path("/"):
            directory.chmod(directory.stat().st_mode | 0o055)
    python = ROUNDELAY.with_name("python")
    done = subprocess.run((python, "-c", code), capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "needs root" in done.stderr
    assert "sudo, or with --rootless" in done.stderr


def test_results_belong_to_the_user_behind_sudo(tmp_path: Path) -> None:
    environment = {**os.environ, "SUDO_UID": "12345", "SUDO_GID": "23456"}
    output = tmp_path / "out"
    scenario = short_example(tmp_path, iterations=2)
    done = roundelay("run", scenario, "-o", output, environment=environment)
    assert done.returncode == 0, done.stderr
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (output, *output.rglob("*"))}
    assert owners == {(12345, 23456)}


def test_doctor_finds_this_machine_fit(tmp_path: Path) -> None:
    done = roundelay("doctor")
    assert done.returncode == 0, done.stderr
    for name in ("ip", "privileges", "cgroups", "budget"):
        assert name in done.stderr


def test_root_without_the_right_to_make_namespaces_is_told_what_to_do(tmp_path: Path) -> None:
    scenario = short_example(tmp_path)
    without = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
    done = subprocess.run(
        (*without, ROUNDELAY, "run", scenario, "-o", tmp_path / "out"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "CAP_SYS_ADMIN" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
