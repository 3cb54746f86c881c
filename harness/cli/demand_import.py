"""roundelay demand import."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harness.cli.demand_output import write_demand
from harness.cli.options import json_option, quantity
from harness.cli.show import console, plain_table, print_json
from traces.communication_trace import (
    CollectiveRecord,
    CommunicationImport,
    ImportOptions,
    IterationRecord,
)
from traces.errors import BadInputError
from traces.formats.communication_formats import COMMUNICATION_FORMATS, import_communication
from traces.formats.group_sizes import MAX_WORKERS
from traces.model_profile import profile_document
from traces.quantities import format_duration, format_size, parse_duration_s

_MOST_SHOWN = 20  # iterations in the table
# What only the choice of blocking transfers needs.
_NOT_SHOWN = frozenset({"compute_waited", "work_follows"})


@click.command("import")
@click.argument("words", metavar="[FORMAT] FILE...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Default: FILE's name, .demand.json."
)
@click.option("--model", help="Name of the model. Default: FILE's name.")
@click.option(
    "--partial",
    is_flag=True,
    help="Read what there is of a file that ends early or says too little.",
)
@click.option(
    "--group-size",
    "group_sizes",
    metavar="GROUP=N",
    multiple=True,
    help="Workers of a group whose size FILE does not say. Repeatable.",
)
@click.option(
    "--compute",
    metavar="'300 ms'",
    help="How long an iteration computes, where FILE tells no computing.",
)
@json_option
def import_(
    words: tuple[str, ...],
    output: Path | None,
    model: str | None,
    partial: bool,
    group_sizes: tuple[str, ...],
    compute: str | None,
    as_json: bool,
) -> None:
    """Turn a trace of communication into a profile with a Demand.

    FORMAT is kineto (the PyTorch profiler), aicb, simai, chakra or nccl-inspector; told by what
    FILE holds where left out. Chakra has a FILE for each rank; those of kineto's other ranks tell
    waiting for slower ranks from waiting for the network.

    \b
    Example:
      roundelay demand import trace.json.gz -o resnet50.json
      roundelay demand import kineto rank*.json.gz
      roundelay demand import simai workload.txt --group-size dp=16
      roundelay demand import chakra all_reduce.*.et
    """
    named = len(words) > 1 and words[0] in COMMUNICATION_FORMATS
    files = [Path(word) for word in words[named:]]
    options = ImportOptions(
        model=model,
        partial=partial,
        group_sizes=dict(map(_group_size, group_sizes)),
        compute_s=None if compute is None else _duration_s(compute),
    )
    imported = import_communication(files, words[0] if named else None, options)
    target = write_demand(imported.profile, files[0], output)
    if as_json:
        print_json(_document(imported, target))
    _print(imported)
    console.print(f"profile: {target.resolve()}", soft_wrap=True)


def _group_size(text: str) -> tuple[str, int]:
    group, _, size = text.rpartition("=")
    is_number = size.isascii() and size.isdigit() and len(size) <= len(str(MAX_WORKERS))
    if not group or not is_number or not 1 <= int(size) <= MAX_WORKERS:
        allowed = f"GROUP=N, such as dp=16; N from 1 to {MAX_WORKERS:,}"
        raise BadInputError(f"{text!r} is no size of a group", allowed=allowed, key="--group-size")
    return group, int(size)


def _duration_s(text: str) -> float:
    return quantity(parse_duration_s, text, "--compute")


def _document(imported: CommunicationImport, target: Path) -> dict[str, object]:
    return {
        "profile": profile_document(imported.profile),
        "iterations": [
            {
                "name": iteration.name,
                "duration_s": iteration.duration_s,
                "compute_s": iteration.compute_s,
                "collectives": [
                    {
                        key: value
                        for key, value in asdict(collective).items()
                        if value is not None and key not in _NOT_SHOWN
                    }
                    for collective in iteration.collectives
                ],
            }
            for iteration in imported.iterations
        ],
        "notes": list(imported.notes),
        "file": str(target),
    }


def _by_kind(iteration: IterationRecord) -> dict[tuple[str, str], list[CollectiveRecord]]:
    """The collectives of one iteration by name and data type, in order of appearance."""
    kinds: dict[tuple[str, str], list[CollectiveRecord]] = {}
    for collective in iteration.collectives:
        kinds.setdefault((collective.name, collective.dtype or ""), []).append(collective)
    return kinds


def _buffers(group: list[CollectiveRecord], dtype: str) -> str:
    """What they move: elements of a type where the trace says that, else bytes."""
    if dtype:
        return f"{sum(collective.elements or 0 for collective in group):,} {dtype}"
    return format_size(sum(collective.bytes for collective in group))


def _print(imported: CommunicationImport) -> None:
    table = plain_table(f"{imported.profile.model}: {len(imported.iterations)} iterations")
    for heading in ("iteration", "duration", "collectives", "buffers", "on the wire, a worker"):
        table.add_column(heading, justify="left" if heading == "iteration" else "right")
    for iteration in imported.iterations[:_MOST_SHOWN]:
        duration_s = iteration.duration_s
        label = [iteration.name, "" if duration_s is None else format_duration(duration_s)]
        for (name, dtype), group in _by_kind(iteration).items():
            table.add_row(
                *label,
                f"{len(group)} {name}",
                _buffers(group, dtype),
                format_size(sum(collective.wire_bytes for collective in group)),
            )
            label = ["", ""]
    console.print(table)
    num_others = len(imported.iterations) - _MOST_SHOWN
    if num_others > 0:
        console.print(f"and {num_others:,} more iterations: --json has all of them")
    demand = imported.profile.demand
    console.print(
        f"demand: {format_duration(demand.compute_s)} of compute, "
        f"{len(demand.transfers)} transfers, "
        f"{format_size(demand.bytes_per_worker)} a worker and iteration"
    )
    for note in imported.notes:
        console.print(f"note: {note}", soft_wrap=True)
