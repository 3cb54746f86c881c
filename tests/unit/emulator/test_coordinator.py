"""The controller's side of a job, with workers that only record and say what they are told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from emulator import coordinator
from emulator.coordinator import JobRun, connect_workers, end_workers, run_jobs
from emulator.messages import Message, MessageSocket
from emulator.timeshift import TimeShiftAgent
from traces.errors import EmulationError
from traces.results import IterationSpan


class FakeWorker:
    """Remembers what it is sent."""

    def __init__(self) -> None:
        self.told: list[Message] = []

    def send(self, message: Message) -> None:
        self.told.append(message)


def job_run(
    workers: int = 2, iterations: int = 3, **changes: Any
) -> tuple[JobRun, list[FakeWorker]]:
    fakes = [FakeWorker() for _ in range(workers)]
    return JobRun("job", cast("list[MessageSocket]", fakes), iterations, **changes), fakes


def test_a_worker_that_needs_time_to_end_is_waited_for_and_no_other() -> None:
    sockets = [socket.socketpair() for _ in range(3)]
    slow, stuck, gone = (MessageSocket(ours) for ours, _ in sockets)
    sockets[2][1].close()

    def end_slowly() -> None:
        theirs = sockets[0][1]
        assert theirs.recv(1) == b""
        ended.append(True)
        theirs.close()

    ended: list[bool] = []
    thread = threading.Thread(target=end_slowly)
    thread.start()
    end_workers([JobRun("own", [slow], 3, end_s=300.0), JobRun("replayed", [stuck, gone], 3)])
    assert ended
    thread.join()
    assert [each.fileno() for each in (slow, stuck, gone)] == [-1, -1, -1]
    sockets[1][1].close()


def end(timeline: float, started: float, received: float, late: float = 0.0) -> Message:
    return {
        "event": "end",
        "timeline_end_s": timeline,
        "input_ready_s": 0.0,
        "started_s": [started],
        "received_s": [received],
        "lateness_s": [late],
    }


def starts(worker: FakeWorker) -> list[float]:
    return [message["start_s"] for message in worker.told if message["do"] == "iterate"]


def test_all_workers_start_at_the_same_moment() -> None:
    run, workers = job_run(start_after_s=0.5)
    run.begin(100.0)
    assert [starts(worker) for worker in workers] == [[100.5], [100.5]]


def test_the_slowest_worker_decides_when_an_iteration_ends() -> None:
    run, workers = job_run()
    run.begin(100.0)
    run.handle(end(100.1, 100.1, 100.2, late=0.001))
    assert run.measured == []
    run.handle(end(100.1, 100.12, 100.3, late=0.002))
    assert run.measured == [IterationSpan(100.0, 100.1, 100.3)]
    assert run.lateness_s == [0.001, 0.002]
    assert starts(workers[0]) == starts(workers[1]) == [100.0, 100.3]


def test_compute_that_outlasts_the_transfers_ends_the_iteration() -> None:
    run, _ = job_run(workers=1)
    run.begin(100.0)
    run.handle(end(100.9, 100.1, 100.3))
    assert run.measured[0].end_s == 100.9


def test_an_iteration_without_transfers_communicates_at_its_end() -> None:
    run, _ = job_run(workers=1)
    run.begin(100.0)
    nothing: dict[str, Any] = {"started_s": [], "received_s": [], "lateness_s": []}
    run.handle({"event": "end", "timeline_end_s": 100.4, "input_ready_s": 0.0, **nothing})
    assert run.measured == [IterationSpan(100.0, 100.4, 100.4)]


def test_a_job_ends_after_its_iterations() -> None:
    run, (worker,) = job_run(workers=1, iterations=2)
    run.begin(100.0)
    run.handle(end(100.1, 100.1, 100.2))
    assert not run.done
    run.handle(end(100.3, 100.3, 100.4))
    assert run.done
    assert len(starts(worker)) == 2


def test_samples_that_come_late_end_the_iteration() -> None:
    run, (worker,) = job_run(workers=1)
    run.begin(100.0)
    run.handle({**end(100.1, 100.1, 100.2), "input_ready_s": 100.6})
    assert run.measured == [IterationSpan(100.0, 100.1, 100.6)]
    assert starts(worker) == [100.0, 100.6]


def test_another_share_goes_out_once_with_the_next_start() -> None:
    run, workers = job_run(workers=2)
    run.begin(100.0)
    run.input_change = {"share": "another"}
    for _ in range(2):
        run.handle(end(100.1, 100.1, 100.2))
        run.handle(end(100.1, 100.1, 100.2))
    for worker in workers:
        assert [message["input"] for message in worker.told] == [None, {"share": "another"}, None]


def received(transfer: int, at_s: float) -> Message:
    return {"event": "received", "transfer": transfer, "at_s": at_s}


def resumes(worker: FakeWorker) -> list[float]:
    return [message["resume_s"] for message in worker.told if message["do"] == "resume"]


def test_a_blocking_transfer_resumes_all_workers_with_the_last_arrival() -> None:
    run, workers = job_run(workers=3)
    run.begin(100.0)
    run.handle(received(0, 100.3))
    run.handle(received(0, 100.5))
    assert [resumes(worker) for worker in workers] == [[], [], []]
    run.handle(received(0, 100.4))
    assert [resumes(worker) for worker in workers] == [[100.5]] * 3


def test_every_blocking_transfer_waits_for_its_own_arrivals() -> None:
    run, (worker, _) = job_run()
    run.begin(100.0)
    run.handle(received(0, 100.1))
    run.handle(received(1, 100.2))
    assert resumes(worker) == []
    run.handle(received(1, 100.3))
    run.handle(received(0, 100.4))
    assert resumes(worker) == [100.3, 100.4]
    # the next iteration blocks anew
    run.handle(received(0, 101.0))
    assert resumes(worker) == [100.3, 100.4]


def test_with_an_agent_iterations_start_on_its_grid() -> None:
    agent = TimeShiftAgent(anchor_s=100.0, shift_s=0.25, period_s=1.0)
    run, (worker,) = job_run(workers=1, agent=agent)
    run.begin(100.0)
    run.handle(end(101.0, 101.0, 101.2))  # early: held to the grid
    run.handle(end(102.0, 102.0, 102.5))  # a quarter late: on to the next point
    assert starts(worker) == pytest.approx([100.25, 101.25, 103.25])
    assert agent.adjustments == 1


def test_a_stop_lets_the_iteration_under_way_end_and_starts_no_other() -> None:
    run, (worker,) = job_run(workers=1, iterations=10)
    run.begin(100.0)
    run.handle(end(100.1, 100.1, 100.2))
    run.stop_after_this_iteration()
    run.stop_after_this_iteration()
    assert not run.done
    run.handle(end(100.3, 100.3, 100.4))
    assert run.done
    assert len(run.measured) == len(starts(worker)) == 2
    run.stop_after_this_iteration()
    assert run.done


@pytest.fixture
def pair() -> Iterator[tuple[MessageSocket, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield MessageSocket(ours), theirs
    ours.close()
    theirs.close()


def say(other_end: socket.socket, *messages: Message) -> None:
    other_end.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))


def heard(other_end: socket.socket) -> list[Message]:
    other_end.setblocking(False)
    return [json.loads(line) for line in other_end.recv(2**16).splitlines()]


def explain() -> str:
    return "the last words"


def test_everybody_listens_before_anybody_connects(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, {"event": "listening"}, {"event": "ready"})
    connect_workers([worker], explain)
    assert heard(other_end) == [{"do": "connect"}]


@pytest.mark.parametrize("said", [[], [{"event": "ready"}], [{"event": "listening"}]])
def test_a_worker_that_does_not_get_ready_is_an_error_with_its_last_words(
    pair: tuple[MessageSocket, socket.socket], said: list[Message]
) -> None:
    worker, other_end = pair
    say(other_end, *said)
    other_end.shutdown(socket.SHUT_WR)
    with pytest.raises(EmulationError, match="the last words"):
        connect_workers([worker], explain)


def run_alone(worker: MessageSocket, iterations: int, stop: bool = False) -> tuple[JobRun, int]:
    run = JobRun("job", [worker], iterations)
    seen: list[int] = []
    run_jobs([run], 100.0, lambda job: seen.append(len(job.measured)), lambda: stop, explain)
    assert seen == list(range(1, len(run.measured) + 1))
    return run, len(seen)


def test_jobs_run_to_their_end_also_when_messages_come_together(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, end(1.0, 0.5, 1.0), end(2.0, 1.5, 2.0), end(3.0, 2.5, 3.0))
    run, progress = run_alone(worker, iterations=3)
    assert [iteration.end_s for iteration in run.measured] == [1.0, 2.0, 3.0]
    assert progress == 3
    assert [message["start_s"] for message in heard(other_end)] == [100.0, 1.0, 2.0]


def test_a_wanted_stop_ends_the_run_with_the_iteration_under_way(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, end(1.0, 0.5, 1.0))
    run, _ = run_alone(worker, iterations=50, stop=True)
    assert len(run.measured) == 1


def test_a_job_that_is_not_due_yet_is_not_silent(
    pair: tuple[MessageSocket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, other_end = pair
    moments = iter([0.0, 40.0, 80.0, 120.0, 500.0])
    last_words = iter([end(510.0, 505.0, 509.0)])

    def clock() -> float:
        moment = next(moments, 510.0)
        if moment == 510.0:
            say(other_end, *[message for message in (next(last_words, None),) if message])
        return moment

    monkeypatch.setattr(coordinator, "now_s", clock)
    monkeypatch.setattr(coordinator, "_POLL_S", 0.0)
    run = JobRun("job", [worker], iterations=1, start_after_s=500.0)
    run_jobs([run], 0.0, lambda _: None, lambda: False, explain)
    assert run.done


def test_a_job_that_computes_is_not_silent_before_its_end(
    pair: tuple[MessageSocket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, _ = pair
    moments = iter([0.0, 70.0, 150.0])
    monkeypatch.setattr(coordinator, "now_s", lambda: next(moments, 170.0))
    monkeypatch.setattr(coordinator, "_POLL_S", 0.0)
    run = JobRun("job", [worker], iterations=1, quiet_s=100.0)
    with pytest.raises(EmulationError, match="no worker has said anything"):
        run_jobs([run], 0.0, lambda _: None, lambda: False, explain)
    assert next(moments, None) is None, "it gave up before a minute after the end of the compute"


def test_nobody_is_silent_while_a_link_is_down(
    pair: tuple[MessageSocket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, _ = pair
    moments = iter([0.0, 70.0, 150.0])
    monkeypatch.setattr(coordinator, "now_s", lambda: next(moments, 170.0))
    monkeypatch.setattr(coordinator, "_POLL_S", 0.0)
    run = JobRun("job", [worker], iterations=1)
    with pytest.raises(EmulationError, match="no worker has said anything"):
        run_jobs([run], 0.0, lambda _: None, lambda: False, explain, quiet_until_s=100.0)
    assert next(moments, None) is None, "it gave up before a minute after the link came up"


def test_a_worker_that_ends_early_is_an_error_that_names_its_job(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, end(1.0, 0.5, 1.0))
    other_end.shutdown(socket.SHUT_WR)
    with pytest.raises(EmulationError, match="worker of job job ended: the last words"):
        run_alone(worker, iterations=2)


def test_a_worker_that_is_gone_when_spoken_to_is_the_same_error(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, end(1.0, 0.5, 1.0))

    class Deaf(MessageSocket):
        def send(self, message: Message) -> None:
            if message["start_s"] < 100.0:
                raise BrokenPipeError

    with pytest.raises(EmulationError, match="the last words"):
        run_alone(Deaf(worker.socket), iterations=2)


def test_a_worker_that_is_gone_before_it_connects_or_starts_is_the_same_error(
    pair: tuple[MessageSocket, socket.socket],
) -> None:
    worker, other_end = pair
    say(other_end, {"event": "listening"})
    other_end.close()
    with pytest.raises(EmulationError, match="a worker ended: the last words"):
        connect_workers([worker], explain)
    with pytest.raises(EmulationError, match="worker of job job ended: the last words"):
        run_alone(worker, iterations=2)
