"""Kineto import: one synthetic trace per behaviour and per kind of bad input, and a real one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from traces.communication_trace import CommunicationImport, ImportOptions
from traces.demand import Pattern
from traces.errors import BadInputError
from traces.formats import json_stream, kineto_events
from traces.formats.collectives import operation_of, wire_factor
from traces.formats.communication_formats import import_communication
from traces.model_profile import read_profile, write_profile

REAL_TRACES = Path(__file__).parents[3] / "shared" / "data" / "kineto"
COMPUTE_STREAM, NCCL_STREAM = 7, 40


def import_kineto(*files: Path, model: str | None = None) -> CommunicationImport:
    return import_communication(files, "kineto", ImportOptions(model))


class Trace:
    """Builds a trace; times in milliseconds from the begin of the trace."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.header: dict[str, Any] = {
            "distributedInfo": {"rank": 0, "world_size": 4, "nccl_version": "2.17.1"},
            "deviceProperties": [{"id": 0, "name": "Test GPU"}],
        }
        self._next_id = 1

    def _add(
        self, category: str, name: str, start: float, length: float, tid: int = 1, **args: Any
    ) -> None:
        self.events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid}
            | {"ts": 5e6 + start * 1e3, "dur": length * 1e3, "args": args}
        )

    def _launch(self, at: float | None) -> int:
        self._next_id += 1
        if at is not None:
            self._add("cuda_runtime", "cudaLaunchKernel", at, 0.001, correlation=self._next_id)
        return self._next_id

    def step(self, number: int, start: float, length: float) -> None:
        self._add("user_annotation", f"ProfilerStep#{number}", start, length)
        self._add("gpu_user_annotation", f"ProfilerStep#{number}", start, length)

    def compute(self, start: float, length: float, launch: float | None) -> None:
        correlation = self._launch(launch)
        self._add("kernel", "gemm", start, length, COMPUTE_STREAM, correlation=correlation)

    def collective(
        self,
        start: float,
        length: float,
        issued: float,
        elements: int = 1000,
        name: str = "allreduce",
        dtype: str = "Float",
        group: int = 4,
        record: bool = True,
        kernel: bool = True,
        **more: Any,
    ) -> None:
        correlation = self._launch(issued)
        args: dict[str, Any] = {
            "External id": self._next_id,
            "Collective name": name,
            "dtype": dtype,
            "In msg nelems": elements,
            "Out msg nelems": elements // 2,
            "Group size": group,
        } | more
        if record:
            self._add("cpu_op", "record_param_comms", issued, 0.1, **args)
        if kernel:
            # Kernels of records carry the id only, so that the join is what is tested.
            noted: dict[str, Any] = {"External id": self._next_id} if record else args
            self._add(
                "kernel", "ncclKernel_X", start, length, NCCL_STREAM, **noted,
                correlation=correlation,
            )  # fmt: skip

    def coalesced(self, start: float, length: float, issued: float) -> None:
        """A kernel that names no collective, as the end of a group launches it."""
        correlation = self._launch(issued)
        self._add("kernel", "ncclDevKernel_X", start, length, NCCL_STREAM, correlation=correlation)

    def copy(self, name: str, start: float, length: float) -> None:
        self._add("gpu_memcpy", name, start, length, tid=COMPUTE_STREAM + 1)

    def wait_of_host(self, start: float, length: float) -> None:
        self._add("cuda_runtime", "cudaDeviceSynchronize", start, length)

    def document(self) -> dict[str, Any]:
        return {**self.header, "traceEvents": self.events, "traceName": "t"}

    def run(self, folder: Path) -> CommunicationImport:
        file = folder / "trace.json"
        file.write_text(json.dumps(self.document(), indent=1), encoding="utf-8")
        return import_kineto(file)


def overlapped(trace: Trace, number: int, begin: float, slower: float = 0.0) -> None:
    """One step of 100 ms: backward to 60, two all-reduces, the optimizer waits for the second.

    slower: ms that the second all-reduce takes longer, which the step then does too.
    """
    trace.step(number, begin, 100 + slower)
    trace.compute(begin + 1, 39, launch=begin + 1)
    trace.collective(begin + 40, 15, issued=begin + 39, elements=1000)
    trace.compute(begin + 40, 20, launch=begin + 2)
    trace.collective(begin + 60, 20 + slower, issued=begin + 59, elements=3000)
    trace.compute(begin + 80 + slower, 10, launch=begin + 59.5)


@pytest.fixture
def trace() -> Trace:
    return Trace()


def sizes(imported: CommunicationImport) -> list[float]:
    return [transfer.bytes for transfer in imported.profile.demand.transfers]


def noted(imported: CommunicationImport, *words: str) -> bool:
    return any(all(word in note for word in words) for note in imported.notes)


def test_network_time_is_taken_out_of_the_compute_timeline(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    imported = trace.run(tmp_path)
    demand = imported.profile.demand
    assert imported.profile.measured_iteration_s == pytest.approx(0.100)
    assert demand.compute_s == pytest.approx(0.080)  # 20 ms of the second one were waited for
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.040, 0.060])
    assert [one.blocking for one in demand.transfers] == [False, True]
    assert sizes(imported) == [1000 * 4 * 1.5, 3000 * 4 * 1.5]
    assert noted(imported, "stood still", "20 ms")


def test_compute_time_does_not_depend_on_the_fabric_that_was_traced(
    trace: Trace, tmp_path: Path
) -> None:
    overlapped(trace, 1, 0, slower=200)
    demand = trace.run(tmp_path).profile.demand
    assert demand.compute_s == pytest.approx(0.080)
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.040, 0.060])


def test_gaps_of_the_host_are_compute_time(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=0.5)
    trace.collective(20, 30, issued=19)
    trace.compute(60, 10, launch=59.9)  # begins after the all-reduce, but was launched late
    imported = trace.run(tmp_path)
    assert imported.profile.demand.compute_s == pytest.approx(0.100)
    assert not imported.iterations[0].collectives[0].compute_waited


def test_a_host_that_waits_for_the_gpu_is_waiting_for_the_network(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 19, launch=0.5)
    trace.collective(20, 30, issued=19)
    trace.wait_of_host(19.5, 31)
    trace.compute(60, 10, launch=59.9)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.070)


def test_collectives_inside_the_forward_pass_are_blocking(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(0.5, 9.5, launch=0.5)
    for start in (10, 30, 50):  # tensor parallelism: compute 10 ms, then 10 ms of all-reduce
        trace.collective(start, 10, issued=0.8 + start / 100)
        trace.compute(start + 10, 10, launch=0.9 + start / 100)
    demand = trace.run(tmp_path).profile.demand
    assert [one.blocking for one in demand.transfers] == [True, True, True]
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.010, 0.020, 0.030])
    assert demand.compute_s == pytest.approx(0.070)


def test_a_last_transfer_without_work_after_it_is_not_blocking(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 50, launch=0.5)
    trace.collective(40, 30, issued=39)
    assert not trace.run(tmp_path).profile.demand.transfers[0].blocking


def test_a_transfer_that_queued_was_ready_when_its_data_were(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 300)
    trace.compute(1, 19, launch=1)
    trace.collective(20, 100, issued=2)
    trace.compute(20, 20, launch=3)
    trace.collective(120, 100, issued=4)  # its data were ready at 40, its stream at 120
    trace.compute(40, 50, launch=5)
    trace.compute(220, 30, launch=6)
    imported = trace.run(tmp_path)
    demand = imported.profile.demand
    assert [one.start_s for one in imported.iterations[0].collectives] == pytest.approx(
        [0.020, 0.120]
    )
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.020, 0.040])
    assert demand.compute_s == pytest.approx(0.170)


def test_a_short_wait_does_not_make_a_transfer_blocking(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 49, launch=1)
    trace.collective(40, 15, issued=39)
    trace.compute(55, 15, launch=49)  # waits for 5 ms of the 15
    trace.collective(60, 10, issued=58)
    demand = trace.run(tmp_path).profile.demand
    assert demand.compute_s == pytest.approx(0.095)
    assert [one.blocking for one in demand.transfers] == [False, False]


def test_waiting_for_something_else_is_compute_time(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=1)
    trace.collective(30, 20, issued=9)  # nobody on the network between 10 and 30
    trace.compute(50, 10, launch=9.5)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.080)


def test_copies_of_inputs_do_not_hide_waiting(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.copy("Memcpy HtoD (Pinned -> Device)", 62, 10)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.080)
    trace.copy("Memcpy DtoD (Device -> Device)", 62, 10)
    assert trace.run(tmp_path).profile.demand.compute_s == pytest.approx(0.090)


def test_a_host_that_runs_ahead_does_not_move_work_to_the_next_step(
    trace: Trace, tmp_path: Path
) -> None:
    for number in (1, 2):  # the host needs 10 ms a step, the GPU 100 ms
        host, gpu = 10 * (number - 1), 1 + 100 * (number - 1)
        trace.step(number, host, 10)
        trace.compute(gpu, 60, launch=host + 1)
        trace.collective(gpu + 60, 30, issued=host + 2)
        trace.compute(gpu + 60, 40, launch=host + 3)
    imported = trace.run(tmp_path)
    first, second = imported.iterations
    assert [len(first.collectives), len(second.collectives)] == [1, 1]
    assert second.duration_s == pytest.approx(0.101)
    assert second.collectives[0].ready_s == pytest.approx(0.061)


def test_medians_over_iterations(trace: Trace, tmp_path: Path) -> None:
    for number, slower in enumerate((0, 0, 50)):
        overlapped(trace, number, 200 * number, slower)
    profile = trace.run(tmp_path).profile
    assert profile.measured_iteration_s == pytest.approx(0.100)
    assert "3 iterations" in profile.source


def test_iterations_with_other_collectives_are_left_out_and_named(
    trace: Trace, tmp_path: Path
) -> None:
    overlapped(trace, 4, 0)
    overlapped(trace, 5, 200)
    trace.step(6, 400, 100)
    trace.collective(410, 5, issued=409, elements=77)
    imported = trace.run(tmp_path)
    assert len(imported.iterations) == 3
    assert sizes(imported) == [6000, 18000]
    assert noted(imported, "1 of 3 iterations", "ProfilerStep#6")


def test_between_equally_common_sequences_the_later_is_taken(trace: Trace, tmp_path: Path) -> None:
    for number, elements in enumerate((500, 900)):
        trace.step(number, number * 100, 90)
        trace.collective(number * 100 + 10, 5, issued=number * 100 + 9, elements=elements)
    assert sizes(trace.run(tmp_path)) == [900 * 4 * 1.5]


def test_small_transfers_are_left_out_and_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(5, 0.01, issued=4, elements=2, name="broadcast", dtype="Long")
    imported = trace.run(tmp_path)
    assert sizes(imported) == [6000, 18000]
    assert len(imported.iterations[0].collectives) == 3
    assert noted(imported, "1 small transfer", "broadcast", "16 bytes")


def test_material_broadcasts_stay(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(5, 1, issued=4, elements=1000, name="broadcast")
    assert sizes(trace.run(tmp_path)) == [4000, 6000, 18000]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("allreduce", 1.5),
        ("allreduce_coalesced", 1.5),
        ("_allgather_base", 0.75),
        ("allgather_into_tensor_coalesced", 0.75),
        ("reduce_scatter", 0.75),
        ("_reduce_scatter_base", 0.75),
        ("all_to_allv", 0.75),
        ("_broadcast_oop", 1.0),
        ("reduce", 1.0),
        ("send", 1.0),
    ],
)
def test_wire_bytes_per_worker(trace: Trace, tmp_path: Path, name: str, expected: float) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, name=name, dtype="BFloat16")
    imported = trace.run(tmp_path)
    assert sizes(imported) == [1000 * 2 * expected]
    [transfer] = imported.profile.demand.transfers
    is_all_to_all = name.startswith("all_to_all")
    assert transfer.pattern is (Pattern.ALL_TO_ALL if is_all_to_all else Pattern.RING)


def test_two_workers_and_unknown_names() -> None:
    assert wire_factor("allreduce", 2) == 1.0
    assert operation_of("allreduce_sparse") is None
    assert operation_of("nccl:all_reduce") == "allreduce"


def test_receives_are_another_ranks_transfers(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, name="recv")
    trace.collective(40, 10, issued=39, name="send")
    imported = trace.run(tmp_path)
    assert [one.name for one in imported.profile.demand.transfers] == ["send"]
    assert noted(imported, "1 receive", "another rank")


def test_what_moves_nothing_or_is_not_known_is_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(2, 1, issued=2, name="barrier")
    trace.collective(3, 1, issued=3, group=1)
    trace.collective(4, 1, issued=4, name="gossip")
    trace.collective(5, 1, issued=5, dtype="Quaternion")
    trace.collective(6, 1, issued=6, elements=0)
    trace.collective(150, 1, issued=150)
    imported = trace.run(tmp_path)
    assert sizes(imported) == [6000, 18000]
    for reason in ("'barrier'", "one worker", "'gossip'", "'Quaternion'", "no elements", "outside"):
        assert noted(imported, "left out 1 collective:", reason), reason


def test_kernels_alone_carry_the_sizes(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, record=False)
    assert sizes(trace.run(tmp_path)) == [6000]


def test_records_alone_give_the_time_of_issue(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, kernel=False)
    imported = trace.run(tmp_path)
    [transfer] = imported.profile.demand.transfers
    assert transfer.ready_s == pytest.approx(0.019)
    assert noted(imported, "no NCCL kernel")
    assert noted(imported, "no GPU kernels")


def test_without_launching_calls_a_covered_gap_is_waiting(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.events = [event for event in trace.events if event["cat"] != "cuda_runtime"]
    imported = trace.run(tmp_path)
    assert imported.profile.demand.compute_s == pytest.approx(0.080)
    assert noted(imported, "no launching calls")


def test_profile_says_where_it_comes_from(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    imported = trace.run(tmp_path)
    profile = imported.profile
    assert (profile.model, profile.num_gpus, profile.gpu_type) == ("trace", 4, "Test GPU")
    assert profile.provenance == "measured"
    assert "trace.json, rank 0 of 4, NCCL 2.17.1, 1 iteration" in profile.source
    write_profile(profile, tmp_path / "profile.json")
    assert read_profile(tmp_path / "profile.json") == profile


def test_without_a_header_the_largest_group_is_the_job(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.header = {}
    imported = trace.run(tmp_path)
    assert imported.profile.num_gpus == 4
    assert noted(imported, "world size")


def test_groups_smaller_than_the_job_are_noted(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, group=2)
    assert noted(trace.run(tmp_path), "the groups have 2 workers, the job 4")


def test_gzip_is_known_by_its_first_bytes(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    file = tmp_path / "packed.json"
    file.write_bytes(gzip.compress(json.dumps(trace.document()).encode()))
    plain = trace.run(tmp_path)
    packed = import_kineto(file, model="named")
    assert packed.profile.demand == plain.profile.demand
    assert packed.profile.model == "named"


def ranks_of(folder: Path, *traces: Trace) -> list[Path]:
    """Files of the ranks of one job."""
    files = []
    for rank, trace in enumerate(traces):
        trace.header["distributedInfo"] = {"rank": rank, "world_size": len(traces)}
        files.append(folder / f"rank{rank}.json")
        files[-1].write_text(json.dumps(trace.document()), encoding="utf-8")
    return files


def waiting(trace: Trace, ready: float, clock: float = 0.0, **more: Any) -> None:
    """A step of 100 ms: compute until ``ready``, an all-reduce to 80, the optimizer.

    clock: ms that this rank's clock is ahead.
    """
    trace.step(1, clock, 100)
    trace.compute(clock + 1, ready - 1, launch=clock + 1)
    trace.collective(clock + ready, 80 - ready, issued=clock + 2, **more)
    trace.compute(clock + 80, 10, launch=clock + 3)


@pytest.mark.parametrize("sequence", [{}, {"Seq": 17}], ids=["by place", "by sequence number"])
def test_waiting_for_a_slower_rank_is_no_time_of_the_network(
    tmp_path: Path, sequence: dict[str, int]
) -> None:
    fast, slow = Trace(), Trace()
    waiting(fast, 40, **sequence)
    waiting(slow, 60, clock=7.5, **sequence)
    files = ranks_of(tmp_path, fast, slow)
    for first, second in (files, files[::-1]):
        imported = import_kineto(first, second)
        demand = imported.profile.demand
        assert demand.compute_s == pytest.approx(0.080)
        assert demand.transfers[0].ready_s == pytest.approx(0.060)
        assert demand.transfers[0].blocking
        assert "beside those of 1 other rank" in imported.profile.source
    assert noted(import_kineto(*files), "waited for slower ranks for 20 ms of an iteration")
    alone = import_kineto(files[0])
    assert alone.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(alone, "taken as waiting for the network")


def test_ranks_are_compared_by_their_sequence_numbers_before_places(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, Seq=5)
    waiting(other, 60, Seq=6)
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(imported, "in the trace of no other rank", "1 collective")


def test_groups_of_other_ranks_are_others(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, **{"Process Group Name": "3"})
    waiting(other, 60, **{"Process Group Name": "4"})
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)


def test_sends_are_not_compared_and_other_programs_are_told(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, name="send")
    waiting(other, 60, name="recv")
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(imported, "1 of 2 ranks communicate otherwise")
    assert not noted(imported, "in the trace of no other rank")


def test_missing_ranks_are_told(tmp_path: Path) -> None:
    traces = [Trace() for _ in range(3)]
    for trace in traces:
        waiting(trace, 40)
    imported = import_kineto(*ranks_of(tmp_path, *traces)[:2])
    assert noted(imported, "traces of 2 of 3 ranks")


def test_files_that_are_no_ranks_of_one_job(tmp_path: Path) -> None:
    traces = [Trace(), Trace()]
    for trace in traces:
        waiting(trace, 40)
    files = ranks_of(tmp_path, *traces)
    with pytest.raises(BadInputError, match="is of rank 0, as is") as caught:
        import_kineto(files[0], files[0])
    assert caught.value.key == "distributedInfo"
    traces[1].header["distributedInfo"]["world_size"] = 8
    files[1].write_text(json.dumps(traces[1].document()), encoding="utf-8")
    with pytest.raises(BadInputError, match="a job of 8 ranks") as caught:
        import_kineto(*files)
    assert caught.value.file == files[1]


@pytest.mark.parametrize("named", [False, True])
def test_coalesced_collectives_share_the_kernel_that_names_none(
    trace: Trace, tmp_path: Path, named: bool
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=1)
    trace.collective(10, 5, issued=2, elements=500)
    trace.compute(15, 15, launch=3)
    for issued, elements in ((4.0, 1000), (4.1, 3000)):
        trace.collective(0, 0, issued=issued, elements=elements, kernel=False)
    if named:
        trace.collective(30, 20, issued=4.2, name="endCoalescing", elements=0)
    else:
        trace.coalesced(30, 20, issued=4.2)
    trace.collective(50, 5, issued=5, elements=700)
    trace.compute(55, 10, launch=6)
    imported = trace.run(tmp_path)
    collectives = imported.iterations[0].collectives
    assert [one.elements for one in collectives] == [500, 1000, 3000, 700]
    assert [one.start_s for one in collectives] == pytest.approx([0.010, 0.030, 0.030, 0.050])
    assert noted(imported, "2 collectives had no NCCL kernel of their own", "coalesced")
    assert not noted(imported, "left out")
    assert not noted(imported, "when the host issued them")


def test_a_kernel_that_nothing_was_issued_for_is_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.coalesced(85, 5, issued=60)
    assert noted(trace.run(tmp_path), "left out 1 collective:", "does not say its name")


def test_a_group_without_a_size_is_that_of_its_ranks_or_the_job(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    unsized: dict[str, Any] = {"Group size": None}
    trace.collective(20, 10, issued=19, **unsized, **{"Process Group Ranks": "[0, 2]"})
    trace.collective(40, 10, issued=39, **unsized, **{"Process Group Ranks": "[0, 1, ...]"})
    imported = trace.run(tmp_path)
    assert [one.group_size for one in imported.iterations[0].collectives] == [2, 4]
    assert noted(imported, "the size of its group is not said", "1 collective")
    trace.header = {}
    imported = trace.run(tmp_path)
    assert [one.group_size for one in imported.iterations[0].collectives] == [2]
    assert noted(imported, "left out 1 collective:", "how many workers the group")


def refusal(file: Path) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        import_kineto(file)
    assert caught.value.file == file
    assert caught.value.allowed
    return caught.value


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"   \n ", "ends too early"),
        (b"\x1f\x8b", "packed file ends too early"),
        (b"\x1f\x8bnot gzip at all", "cannot be unpacked"),
        (b"<html></html>", "not sound JSON"),
        (b"\xff\xfe{", "not sound JSON"),
        (b'{"traceEvents": [{"ts": NaN}]}', "not sound JSON"),
        (b'{"traceEvents": [{"ts": 1' + b"0" * 5000 + b"}]}", "not sound JSON"),
        (b'{"traceEvents": [{"ts": 1e99999999999999999999}]}', "not sound JSON"),
        (b'{"a": 1}', "has no events"),
        (b'{"traceEvents": 3}', "has no events"),
        (b"[]", "has no events"),
        (b'{"traceEvents": [3]}', "not an object"),
        (b'{"traceEvents": [' + b"[" * 200, "the nesting is larger than 100 levels"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    assert problem in str(refusal(file))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "No such file" in str(refusal(tmp_path / "none.json"))
    assert "directory" in str(refusal(tmp_path))


def test_truncated_files_say_the_line(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    text = json.dumps(trace.document(), indent=1).encode()
    plain, packed = tmp_path / "cut.json", tmp_path / "cut.json.gz"
    beginning = text[: text.rindex(b'"dur"') + 3]
    plain.write_bytes(beginning)
    error = refusal(plain)
    assert "ends too early" in str(error)
    assert error.line == beginning.count(b"\n") + 1
    whole = gzip.compress(text)
    packed.write_bytes(whole[: len(whole) // 2])
    assert "packed file ends too early" in str(refusal(packed))


@pytest.mark.parametrize("time", [-5, "soon", None, 1e300])
def test_a_bad_time_is_refused_with_its_line(trace: Trace, tmp_path: Path, time: object) -> None:
    overlapped(trace, 1, 0)
    trace.events[3]["dur"] = time
    file = tmp_path / "bad.json"
    text = ",\n".join(json.dumps(event) for event in trace.events)
    file.write_text('{"traceEvents": [\n' + text + "\n]}", encoding="utf-8")
    error = refusal(file)
    assert (error.line, error.key) == (5, "traceEvents.dur")


def test_traces_that_say_no_demand(trace: Trace, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"

    def problem() -> str:
        file.write_text(json.dumps(trace.document()), encoding="utf-8")
        return str(refusal(file))

    trace.compute(1, 5, launch=0.5)
    assert "single GPU" in problem()
    trace.collective(10, 5, issued=9, name="recv")
    assert "no 'ProfilerStep#N' spans" in problem()
    trace.step(1, 20, 10)
    assert "outside the 'ProfilerStep#N' spans" in problem()
    trace.step(2, 0, 15)
    assert "only receives" in problem()
    trace.step(3, 14, 5)
    assert "ProfilerStep#3 begins before ProfilerStep#2 ends" in problem()


def test_collectives_without_sizes(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    for event in trace.events:
        event["args"].pop("In msg nelems", None)
        event["args"].pop("Out msg nelems", None)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    assert "no NCCL metadata" in str(refusal(file))


def test_only_unknown_collectives(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(10, 5, issued=9, name="gossip")
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    assert "'gossip'" in str(refusal(file))


@pytest.mark.parametrize("filler", [b" ", b'"' + b"a", b"1"])
def test_endless_tokens_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filler: bytes
) -> None:
    monkeypatch.setattr(json_stream, "MAX_TOKEN_BYTES", 2**20)
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b'{"traceEvents": [' + filler + filler[-1:] * 2**22))
    assert "word, number or blank is larger than 1 MiB" in str(refusal(file))


def test_endless_members_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_MEMBER_BYTES", 2**18)
    file = tmp_path / "bomb.json"
    file.write_bytes(b'{"traceEvents": [{"args": [' + b"1," * 2**18)
    assert "single value is larger" in str(refusal(file))


def test_too_many_events_are_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlapped(trace, 1, 0)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    monkeypatch.setattr(kineto_events, "MAX_KEPT_EVENTS", 5)
    assert "too many events" in str(refusal(file))
    monkeypatch.undo()
    monkeypatch.setattr(kineto_events, "MAX_COLLECTIVES", 1)
    assert "too many collectives" in str(refusal(file))


def real_trace(name: str) -> Path:
    file = REAL_TRACES / name
    if not file.exists():
        pytest.skip(f"the real trace {file} is not here")
    return file


@pytest.mark.data
def test_real_data_parallel_trace() -> None:
    imported = import_kineto(real_trace("nccl_data.json.gz"))
    assert [one.name for one in imported.iterations] == [f"ProfilerStep#{n}" for n in (4, 5, 6)]
    assert [one.duration_s for one in imported.iterations] == pytest.approx(
        [0.2224, 0.2197, 0.2249], abs=1e-4
    )
    for iteration in imported.iterations:
        reduced = [one for one in iteration.collectives if one.name == "allreduce"]
        assert len(reduced) == 5
        assert sum(one.elements or 0 for one in reduced) == 25_557_032
        assert {one.dtype for one in reduced} == {"float32"}
    demand = imported.profile.demand
    assert demand.bytes_per_worker == 25_557_032 * 4  # two ranks: 2 (n - 1) / n is 1
    assert demand.compute_s == pytest.approx(0.2224, abs=1e-3)  # its gaps are the host's
    assert [one.ready_s for one in demand.transfers] == pytest.approx(
        [0.1070, 0.1153, 0.1215, 0.1496, 0.1901], abs=1e-3
    )
    assert [one.blocking for one in demand.transfers] == [False] * 4 + [True]
    assert imported.profile.num_gpus == 2
    assert noted(imported, "2 small transfers", "broadcast", "212,904 bytes")


@pytest.mark.data
def test_real_single_gpu_trace() -> None:
    assert "single GPU" in str(refusal(real_trace("alexnet_single_gpu.json.gz")))
