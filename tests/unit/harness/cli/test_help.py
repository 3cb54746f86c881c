"""Every verb says what it does, with an example."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from harness.cli.main import main
from tests.unit.harness.cli.conftest import Roundelay


def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))


GENERATED = {
    ("trace", "generate", name)
    for name in (
        "poisson", "philly-derived", "static", "dynamic", "snapshot", "empirical",
        "synergy-deployment",
    )
}  # fmt: skip


def test_the_verbs_are_these() -> None:
    assert set(verbs(main)) == {
        ("run",), ("simulate",), ("emulate",), ("plan",), ("validate",), ("report",),
            ("reproduce",),
        ("profile",), ("profile", "sensitivity"), ("profile", "stalls"), ("profile", "network"),
        ("demand",), ("demand", "import"), ("demand", "fit"), ("demand", "show"),
            ("demand", "compat"),
        ("sweep",), ("doctor",), ("clean",),
        ("trace",), ("trace", "convert"), ("trace", "describe"), ("trace", "formats"),
        ("trace", "columns"), ("trace", "mapping"), ("trace", "generate"), *GENERATED,
    }  # fmt: skip


@pytest.mark.parametrize("verb", [(), *verbs(main)], ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_an_example(roundelay: Roundelay, verb: tuple[str, ...], option: str) -> None:
    result = roundelay(*verb, option)
    assert result.exit_code == 0
    example = result.stdout.partition("Example:\n")[2].split("\n")[0]
    assert " ".join(("roundelay", *verb)) in example


def test_every_verb_that_prints_a_result_can_print_json() -> None:
    for path in verbs(main):
        command: click.Command = main
        for name in path:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), name)
            assert found is not None
            command = found
        if not isinstance(command, click.Group):
            assert "as_json" in [parameter.name for parameter in command.params], path


def test_the_version_is_printed(roundelay: Roundelay) -> None:
    assert "roundelay, version " in roundelay("--version").stdout


def test_an_unknown_verb_is_refused(roundelay: Roundelay) -> None:
    assert roundelay("emulat").exit_code == 2
