"""The command ``roundelay``: one thin file a verb."""

from __future__ import annotations

import sys

import click

from harness.cli.lazy_group import LazyGroup
from harness.cli.options import INTERRUPTED
from traces.errors import RoundelayError

VERBS = (
    "run",
    "simulate",
    "emulate",
    "plan",
    "validate",
    "report",
    "reproduce",
    "profile",
    "demand",
    "trace",
    "sweep",
    "doctor",
    "clean",
)
"""Each a command of that name in the module of that name."""


class _Command(LazyGroup):
    """Turns the errors that a person can cause into one line and an exit code."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except RoundelayError as error:
            click.echo(f"roundelay: {error}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("roundelay: stopped", err=True)
            context.exit(INTERRUPTED)
        except BrokenPipeError:
            sys.stderr.close()
            context.exit(INTERRUPTED)


@click.group(
    cls=_Command,
    names=VERBS,
    prefix="harness.cli.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="roundelay")
def main() -> None:
    """Say what a schedule of machine-learning jobs would do: simulated, emulated, compared.

    \b
    Example:
      sudo roundelay run examples/two-vgg19.yaml -o runs/first
    """
