"""roundelay profile network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from harness.cli.options import (
    begin_rootless,
    default_output,
    json_option,
    quantity,
    quiet_option,
    rootless_option,
    run_id_option,
)
from harness.cli.profile_network_here import profile_here
from harness.cli.profile_network_hosts import profile_on_hosts
from profiler.network.command_here import JobHere
from profiler.network.emulated_hosts import JobOnHosts
from traces.arm import JobCommand
from traces.errors import BadInputError
from traces.quantities import parse_duration_s, parse_rate_bps

_MOST_HOSTS = 16
_MOST_LINKS = 4
_WARMUP_ITERATIONS = 3
_LEAST_WORKERS = 2  # one alone sends nothing
_ONLY_WITH_HOSTS = ("links", "run_id", "rootless")
_ONLY_HERE = ("devices", "workers", "kineto")
_SHORTEST_INTERVAL_S, _LONGEST_INTERVAL_S = 1e-3, 1.0


@click.command()
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True)
@click.option(
    "--hosts",
    type=click.IntRange(min=2, max=_MOST_HOSTS),
    help="Emulated servers around one switch; on each the command is started once. Default: it is "
    "started once on this machine, whose network devices are counted.",
)
@click.option(
    "--link",
    "links",
    metavar="'200 Mbit/s'",
    multiple=True,
    default=("200 Mbit/s",),
    show_default=True,
    help="Rate of their links. Given twice: what waits for a transfer shows on the slower one.",
)
@click.option(
    "--device",
    "devices",
    metavar="NAME",
    multiple=True,
    help="Of this machine, such as eth0 or mlx5_0, repeatable. Default: all that are up and carry "
    "bytes, without those that count what others count.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=_LEAST_WORKERS),
    default=_LEAST_WORKERS,
    show_default=True,
    help="Machines that the job runs on, in a ring, each of which sends what this one does.",
)
@click.option(
    "--kineto",
    is_flag=True,
    help="Follow the script of a command of python or torchrun: it need not call anything, as "
    "the optimizer's steps end its iterations, and torch.profiler, over 9 more iterations that do "
    "not count, says what NCCL sends.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=10, max=100_000),
    default=40,
    show_default=True,
    help=f"That count, after {_WARMUP_ITERATIONS} more.",
)
@click.option(
    "--interval",
    metavar="'1 ms'",
    help="Between two readings of the counters. Default: 1 ms; with --hosts 2 ms.",
)
@click.option("--model", default="job", show_default=True, help="Name of the model.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: runs/network-TIME.")
@run_id_option
@rootless_option
@quiet_option
@json_option
@click.pass_context
def network(
    context: click.Context,
    command: tuple[str, ...],
    hosts: int | None,
    links: tuple[str, ...],
    devices: tuple[str, ...],
    workers: int,
    kineto: bool,
    iterations: int,
    interval: str | None,
    model: str,
    output: Path | None,
    run_id: str,
    rootless: bool,
    as_json: bool,
) -> None:
    """Run a training job, and find out what one of its iterations sends.

    On this machine, which is one of those that the job runs on, what its network devices count is
    fitted, InfiniBand and RoCE too. If the script calls emulator.iterations.iteration_done() after
    every iteration, the run ends once enough are counted, and the fit is compared with them; so it
    does with --kineto. Else it ends with the command, or with Ctrl-C.

    With --hosts the command is started on every emulated server, with the variables that
    torch.distributed (env://) and torchrun read, and has to call iteration_done(). What its ports
    count is fitted; packets, captured beside, have to say the same. Needs root, or --rootless.

    \b
    Example:
      roundelay profile network -- torchrun --nnodes 2 --rdzv-endpoint a:29400 train.py
      sudo roundelay profile network --hosts 2 --link 200Mbit/s --link 100Mbit/s -- python train.py
    """
    directory = output or default_output(Path("network"))
    if hosts is None:
        _refuse(context, _ONLY_WITH_HOSTS, "is for emulated servers", "it with --hosts")
        here = JobHere(command, iterations, _WARMUP_ITERATIONS, _interval_s(interval or "1 ms"))
        profile_here(
            context, here, devices, workers, model, directory, kineto=kineto, as_json=as_json
        )
        return
    _refuse(context, _ONLY_HERE, "is for this machine's devices", "it without --hosts")
    if rootless:
        begin_rootless()
    own = JobCommand(argv=command, directory=Path.cwd())
    seconds = _interval_s(interval or "2 ms")
    jobs = [
        JobOnHosts(own, hosts, rate_bps, iterations, _WARMUP_ITERATIONS, seconds)
        for rate_bps in _rates_bps(links)
    ]
    profile_on_hosts(context, jobs, model, directory, run_id, as_json=as_json)


def _rates_bps(links: Sequence[str]) -> list[float]:
    """Falling."""
    rates_bps = sorted((_rate_bps(link) for link in dict.fromkeys(links)), reverse=True)
    if len(rates_bps) > _MOST_LINKS:
        raise BadInputError(
            f"{len(rates_bps)} rates", allowed=f"{_MOST_LINKS} at most", key="--link"
        )
    return rates_bps


def _rate_bps(text: str) -> float:
    return quantity(parse_rate_bps, text, "--link")


def _refuse(context: click.Context, parameters: Sequence[str], problem: str, allowed: str) -> None:
    """BadInputError where one of ``parameters`` was given, which would say nothing here."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in parameters and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise BadInputError(problem, allowed=allowed, key=parameter.opts[-1])


def _interval_s(text: str) -> float:
    interval_s = quantity(parse_duration_s, text, "--interval")
    if not _SHORTEST_INTERVAL_S <= interval_s <= _LONGEST_INTERVAL_S:
        raise BadInputError(f"{text!r} is out of range", allowed="1 ms to 1 s", key="--interval")
    return interval_s
