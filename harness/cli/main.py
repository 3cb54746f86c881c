"""The command ``roundelay``: one thin file a verb."""

from __future__ import annotations

import sys

import click

from harness.cli import (
    clean,
    demand,
    doctor,
    emulate,
    plan,
    report,
    reproduce,
    run,
    simulate,
    validate,
)
from harness.cli.options import INTERRUPTED
from traces.errors import RoundelayError


class _Command(click.Group):
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


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="roundelay")
def main() -> None:
    """Say what a schedule of machine-learning jobs would do: simulated, emulated, compared.

    \b
    Example:
      sudo roundelay run examples/two-vgg19.yaml -o runs/first
    """


for verb in (
    run.run,
    simulate.simulate,
    emulate.emulate,
    plan.plan,
    validate.validate,
    report.report,
    reproduce.reproduce,
    demand.demand,
    doctor.doctor,
    clean.clean,
):
    main.add_command(verb)
