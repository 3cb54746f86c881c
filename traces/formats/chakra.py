"""Chakra execution traces (.et), one file a rank -> the demand of the graph's one iteration.

``comm_size`` is the input of a collective, so that of an all-gather is a shard (pytorch_node.py of
mlcommons/chakra; ASTRA-sim's rings read it so). A trace does not say how many ranks a group has:
as many as there are files of ranks that use it. The demand is that of the first rank.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from traces.communication_trace import CommunicationFormat, CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.chakra_nodes import (
    ALL_RANKS,
    ALLOWED,
    COMMUNICATION,
    DIMENSIONS,
    Node,
    NodeType,
    stream_nodes,
)
from traces.formats.chakra_schedule import Communication, Schedule, schedule_of
from traces.formats.communication_notes import counted
from traces.formats.group_sizes import GroupSizes
from traces.formats.protobuf_fields import DamagedMessageError, fields_of, read_varint
from traces.formats.rank_program import Operation, ProgramFacts, RankProgram, import_program

MAX_FILES = 100_000

_RANK = re.compile(r"(.*)\.(\d{1,9})\.et(?:\.gz)?")
_NAMES = {NodeType.SEND: "send", NodeType.RECEIVE: "recv"}
_SHARDS = frozenset({"ALL_GATHER"})


def import_chakra(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    """Read the traces of all ranks (NAME.RANK.et), or of one and ``options.group_sizes``.

    Groups are called by their ``pg_name``, and 'all' where a collective names none. Raises
    BadInputError.
    """
    ordered = _in_order_of_ranks(files)
    file = ordered[0]
    nodes, notes = _graph(file, options)
    sequence, groups = _communication_of(nodes.values())
    users = Counter(groups)
    others = 0
    for other in ordered[1:]:
        its_sequence, its_groups = _communication_of(stream_nodes(other))
        users.update(its_groups)
        others += its_sequence != sequence
    if others:
        notes.append(
            f"{others:,} of {len(ordered):,} ranks communicate otherwise than the first one, whose "
            "demand this is"
        )
    sizes = GroupSizes(_known_sizes(users, len(ordered)), options, file)
    schedule = schedule_of(nodes)
    if schedule.stuck:
        _refuse_cycle(schedule, file)
    program = RankProgram(sizes)
    for communication in schedule.communications:
        program.compute(communication.ready_s - program.compute_s)
        _communicate(program, communication)
    program.compute(max(0.0, schedule.compute_s - program.compute_s))
    sizes.check_all_used()
    ranks = counted(len(ordered), "rank")
    match = _RANK.fullmatch(file.name)
    options = replace(options, model=options.model or (match and match[1]))
    facts = ProgramFacts(
        num_gpus=max(len(ordered), *options.group_sizes.values(), 1),
        provenance="reconstructed",
        source=f"Chakra execution trace {file.name}, {ranks}, {counted(len(nodes), 'node')}",
        left_out=program.left_out,
        notes=tuple(notes),
    )
    return import_program([program.iteration(0, "the graph")], facts, file, options, ALLOWED)


def _known_sizes(users: Mapping[str, int], num_files: int) -> dict[str, int]:
    """Of the groups whose ranks are the files that use them. One file alone says nothing."""
    if num_files == 1:
        return {}
    named = {group: count for group, count in users.items() if not group.startswith(DIMENSIONS)}
    return {**named, ALL_RANKS: num_files}


def _communicate(program: RankProgram, communication: Communication) -> None:
    node = communication.node
    name = _NAMES.get(node.type, node.collective)
    if node.is_on_cpu:
        program.left_out["done by the CPU, which ASTRA-sim passes over too"] += 1
    elif node.size_bytes is None and name != "BARRIER":
        program.left_out[f"{name!r} without comm_size"] += 1
    else:
        program.communicate(
            Operation(
                name,
                node.size_bytes or 0,
                node.group,
                is_shard=name in _SHARDS,
                compute_waits=communication.compute_waits,
                work_follows=communication.work_follows,
            )
        )


def _graph(file: Path, options: ImportOptions) -> tuple[dict[int, Node], list[str]]:
    """The nodes of ``file`` by id, and what was assumed. All that they wait for is among them."""
    nodes: dict[int, Node] = {}
    for place, node in enumerate(stream_nodes(file), start=2):
        if node.id in nodes:
            raise BadInputError(
                f"there are two nodes with the id {node.id}",
                allowed=ALLOWED,
                file=file,
                key=f"message {place}",
            )
        nodes[node.id] = node
    missing = {
        (identifier, awaited)
        for identifier, node in nodes.items()
        for awaited in node.waits_for
        if awaited not in nodes
    }
    if not missing:
        return nodes, []
    if not options.partial:
        identifier, awaited = min(missing)
        raise BadInputError(
            f"the node {identifier} waits for the node {awaited}, which is not in the file",
            allowed=f"{ALLOWED}, or --partial to wait for those only that are there",
            file=file,
        )
    for identifier in {identifier for identifier, _ in missing}:
        node = nodes[identifier]
        waits_for = tuple(one for one in node.waits_for if one in nodes)
        nodes[identifier] = replace(node, waits_for=waits_for)
    return nodes, [f"{counted(len(missing), 'wait')} for nodes that are not in the file: left out"]


def _communication_of(nodes: Iterable[Node]) -> tuple[bytes, frozenset[str]]:
    """A digest of what a rank sends, with its sizes and in the order of the file; its groups."""
    digest = sha256()
    groups: set[str] = set()
    for node in nodes:
        if node.type in COMMUNICATION:
            digest.update(f"{node.type} {node.collective} {node.group} {node.size_bytes};".encode())
            groups.add(node.group)
    return digest.digest(), frozenset(groups)


def _in_order_of_ranks(files: Sequence[Path]) -> list[Path]:
    """``files`` by their ranks, as their names say. Raises BadInputError where some are missing."""
    if len(files) == 1:
        return list(files)
    if len(files) > MAX_FILES:
        raise BadInputError("there are too many files", allowed=f"{MAX_FILES:,}", file=files[-1])
    ranks: dict[int, Path] = {}
    for file in files:
        match = _RANK.fullmatch(file.name)
        if match is None:
            raise BadInputError(
                "its name does not say its rank",
                allowed="NAME.RANK.et or NAME.RANK.et.gz",
                file=file,
            )
        if int(match[2]) in ranks:
            problem = f"is of rank {int(match[2])}, as is {ranks[int(match[2])]}"
            raise BadInputError(problem, allowed="one file for each rank", file=file)
        ranks[int(match[2])] = file
    missing = next((rank for rank in range(len(ranks)) if rank not in ranks), None)
    if missing is not None:
        raise BadInputError(
            f"the file of rank {missing} is missing",
            allowed="the files of all ranks, from 0 on; or one of them and --group-size all=N",
            file=files[0],
        )
    return [ranks[rank] for rank in range(len(ranks))]


def _refuse_cycle(schedule: Schedule, file: Path) -> NoReturn:
    named = ", ".join(map(str, schedule.stuck[:5])) + (", ..." if len(schedule.stuck) > 5 else "")
    raise BadInputError(
        f"{counted(len(schedule.stuck), 'node')} wait for each other: {named}",
        allowed="a graph without cycles",
        file=file,
    )


def _is_chakra(head: bytes) -> bool:
    """It begins with a GlobalMetadata, which has a version."""
    try:
        length, at = read_varint(head, 0)
        fields = list(fields_of(head[at : at + length]))
    except DamagedMessageError:
        return False
    return bool(fields) and fields[0].number == 1 and isinstance(fields[0].value, bytes)


FORMAT = CommunicationFormat(
    "chakra",
    "Chakra execution traces, one file a rank (.et)",
    import_chakra,
    _is_chakra,
    options=frozenset({"--partial", "--group-size", "--compute"}),
    one_file_per_rank=True,
)
