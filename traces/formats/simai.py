"""ASTRA-sim 1.0's text and SimAI's .txt: the layers of a model, one row each.

The first line is the kind of parallelism and sizes of groups, the second the number of rows. A row
has the computing and the collective of the forward pass, of the gradient of the input (the
backward pass) and of the gradient of the weights (the data-parallel part). Times are nanoseconds;
1 stands for a time that is not known, which every one is in a file without AIOB.

An iteration is what ``Workload::iterate_hybrid_parallel_Transformer`` of aliyun/SimAI does: the
layers forward, then backward; the collectives of the first two parts block, those of the weights
do not. Sizes are those of the full buffer. A name's suffix is its group: ``_EP`` the experts',
``_DP_EP`` the data-parallel one of the experts, none the tensor-parallel one in the first two
parts and the data-parallel one in the third.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from traces.communication_trace import CommunicationFormat, CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.group_sizes import MAX_WORKERS, GroupSizes
from traces.formats.rank_program import (
    MAX_SIZE_BYTES,
    Operation,
    ProgramFacts,
    RankProgram,
    import_program,
)
from traces.formats.text_lines import Line, stream_lines

_KINDS = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER", "DATA", "MODEL", "MICRO")
_WEIGHTS_FIRST = "DATA"
"""With this one, a layer's weights have their gradient before its input."""

_ALLOWED = (
    "a workload of ASTRA-sim 1.0 or SimAI: its kind of parallelism, the number of rows, and as "
    "many rows; or --partial for what is there of it"
)
_WIDTH = 12
_UNKNOWN_TIME = 1
_MAX_TIME_NS = 10**18
_MAX_ROWS = 500_000
_SUFFIXES = {"_DP_EP": "dp_ep", "_EP": "ep"}
_NOTHING = "NONE"


class _Part(NamedTuple):
    """What a rank does for a layer in one of three parts of an iteration."""

    compute_ns: int
    collective: str
    size_bytes: int
    group: str


class _Layer(NamedTuple):
    line: int
    forward: _Part
    input_gradient: _Part
    weight_gradient: _Part


class _Header(NamedTuple):
    """kind: one of _KINDS. sizes: numbers by their names in the first line, without colons."""

    kind: str
    sizes: dict[str, int]


def import_simai(file: Path, options: ImportOptions) -> CommunicationImport:
    """Read a workload, plain or gzip; its groups: tp, dp, ep and dp_ep. Raises BadInputError."""
    reader = _Reader(file, options)
    header, layers = reader.read()
    known = _group_sizes(header, file)
    sizes = GroupSizes(known, options, file)
    program = RankProgram(sizes)
    for layer in layers:
        _run(program, layer.forward, layer.line)
    for layer in reversed(layers):
        parts = [(layer.input_gradient, True), (layer.weight_gradient, False)]
        if header.kind == _WEIGHTS_FIRST:
            parts.reverse()
        for part, compute_waits in parts:
            _run(program, part, layer.line, compute_waits=compute_waits)
    sizes.check_all_used()
    told = {**known, **options.group_sizes}
    stages = header.sizes.get("pp", 1)
    if stages > 1:
        reader.notes.append(
            f"the sends between the {stages} stages of the pipeline stand in no row: left out"
        )
    num_gpus = header.sizes.get("all_gpus", 0) or told.get("tp", 1) * told.get("dp", 1) * stages
    facts = ProgramFacts(
        num_gpus=max(num_gpus, *told.values(), 1),
        provenance="reconstructed",
        source=f"SimAI workload {file.name}, {header.kind}, {len(layers):,} rows",
        left_out=program.left_out,
        notes=tuple(reader.notes),
    )
    return import_program([program.iteration(0, "the iteration")], facts, file, options, _ALLOWED)


def _run(program: RankProgram, part: _Part, line: int, *, compute_waits: bool = True) -> None:
    if part.compute_ns != _UNKNOWN_TIME:
        program.compute(part.compute_ns * 1e-9)
    if part.collective != _NOTHING:
        program.communicate(
            Operation(
                part.collective,
                part.size_bytes,
                part.group,
                compute_waits=compute_waits,
                work_follows=compute_waits,
                line=line,
            )
        )


def _group_sizes(header: _Header, file: Path) -> dict[str, int]:
    """Those that the first line says, or that follow from it."""
    sizes: dict[str, int] = {}
    tensor, experts = header.sizes.get("model_parallel_NPU_group"), header.sizes.get("ep")
    if tensor is not None:
        sizes["tp"] = tensor
    if experts is not None:
        sizes["ep"] = experts
    all_gpus = header.sizes.get("all_gpus")
    if tensor is None or all_gpus is None:
        return sizes
    model = tensor * header.sizes.get("pp", 1)
    if all_gpus % model:
        raise BadInputError(
            f"is {all_gpus}, and no multiple of the {model} GPUs of a model",
            allowed="a multiple of model_parallel_NPU_group and pp",
            file=file,
            line=1,
            key="all_gpus",
        )
    sizes["dp"] = all_gpus // model
    if experts is not None and sizes["dp"] % experts == 0:
        sizes["dp_ep"] = sizes["dp"] // experts
    return sizes


class _Reader:
    """Reads a file. notes: what was left out or assumed."""

    def __init__(self, file: Path, options: ImportOptions) -> None:
        self.notes: list[str] = []
        self._parts: dict[_Part, _Part] = {}  # one of each: layers are much alike
        self._file = file
        self._options = options

    def read(self) -> tuple[_Header, list[_Layer]]:
        lines = stream_lines(self._file, _ALLOWED)
        first = self._next(lines, "the file is empty", 1)
        header = self._header(first)
        second = self._next(lines, "ends before the number of rows", first.number)
        declared = self._whole(second.text.strip(), second, _MAX_ROWS, "the number of rows")
        layers: list[_Layer] = []
        last = second
        for line in lines:
            if len(layers) == declared:
                self._accept(f"has more than the {declared:,} rows that it declares", line.number)
                break
            if self._options.partial and not line.whole and len(line.text.split()) < _WIDTH:
                self.notes.append(f"line {line.number} is cut off, and left out")
                break
            layers.append(self._layer(line))
            last = line
        if len(layers) < declared:
            self._accept(
                f"ends after {len(layers):,} of the {declared:,} rows that it declares", last.number
            )
        times = [part.compute_ns for layer in layers for part in layer[1:]]
        if any(layers) and all(time_ns <= _UNKNOWN_TIME for time_ns in times):
            self.notes.append("all of its compute times are 1, which stands for not known")
        return header, layers

    def _next(self, lines: Iterator[Line], problem: str, line: int) -> Line:
        found = next(lines, None)
        if found is None:
            raise BadInputError(problem, allowed=_ALLOWED, file=self._file, line=line)
        return found

    def _accept(self, problem: str, line: int) -> None:
        """Note ``problem`` where only a part is wanted; else refuse it."""
        if not self._options.partial:
            raise BadInputError(problem, allowed=_ALLOWED, file=self._file, line=line)
        self.notes.append(f"the file {problem}: what is there was read")

    def _header(self, line: Line) -> _Header:
        kind, *words = line.text.split()
        if kind not in _KINDS:
            raise BadInputError(
                f"the kind of parallelism {kind[:60]!r} is not known",
                allowed=", ".join(_KINDS),
                file=self._file,
                line=line.number,
            )
        sizes: dict[str, int] = {}
        for word, value in pairwise(words):
            name = word.removesuffix(":")
            if name in ("model_parallel_NPU_group", "ep", "pp", "all_gpus"):
                sizes[name] = self._whole(value, line, MAX_WORKERS, name)
                if sizes[name] < 1:
                    raise self._refuse("is less than one", line, name)
            elif name == "checkpoints" and self._whole(value, line, _MAX_ROWS, name):
                raise self._refuse("is more than 0: layers that compute twice", line, name)
        return _Header(kind, sizes)

    def _layer(self, line: Line) -> _Layer:
        words = line.text.split()
        if len(words) != _WIDTH:
            problem = f"has {len(words)} columns and not {_WIDTH}"
            raise self._refuse(problem, line)
        return _Layer(
            line.number,
            self._part(words[2:5], line, "forward", "tp"),
            self._part(words[5:8], line, "backward", "tp"),
            self._part(words[8:11], line, "dp", "dp"),
        )

    def _part(self, words: Sequence[str], line: Line, name: str, group: str) -> _Part:
        compute, collective, size = words
        for suffix, of_suffix in _SUFFIXES.items():
            if collective.endswith(suffix):
                collective, group = collective.removesuffix(suffix), of_suffix
                break
        part = _Part(
            self._whole(compute, line, _MAX_TIME_NS, f"{name} compute time"),
            collective[:60],
            self._whole(size, line, MAX_SIZE_BYTES, f"{name} size"),
            group,
        )
        return self._parts.setdefault(part, part)

    def _whole(self, word: str, line: Line, largest: int, key: str) -> int:
        if word.isascii() and word.isdigit() and len(word) < 20 and int(word) <= largest:
            return int(word)
        raise self._refuse(f"{word[:60]!r} is no whole number from 0 to {largest:,}", line, key)

    def _refuse(self, problem: str, line: Line, key: str | None = None) -> BadInputError:
        return BadInputError(problem, allowed=_ALLOWED, file=self._file, line=line.number, key=key)


def _is_simai(head: bytes) -> bool:
    lines = head.decode(errors="replace").removeprefix("\ufeff").split("\n")
    words = lines[0].split()
    return bool(words) and words[0] in _KINDS and len(lines) > 1 and lines[1].strip().isdigit()


def _read(files: Sequence[Path], options: ImportOptions) -> CommunicationImport:
    return import_simai(files[0], options)


FORMAT = CommunicationFormat(
    "simai",
    "a workload of SimAI or ASTRA-sim 1.0 (text)",
    _read,
    _is_simai,
    options=frozenset({"--partial", "--group-size", "--compute"}),
)
