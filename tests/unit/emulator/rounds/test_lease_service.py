"""Workers' calls over a real socket, answered from the controller's thread."""

from __future__ import annotations

import select
import stat
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from emulator.rounds.lease_service import Call, LeaseService
from emulator.training.lease_client import LeaseClient, LeaseLostError
from emulator.training.lease_protocol import (
    END,
    EXTEND,
    OPTIONS,
    REGISTER,
    Message,
    decode,
    encode,
    method_path,
)
from traces.errors import EmulationError

PATIENCE_S = 30.0


def next_call(service: LeaseService) -> Call:
    ready, _, _ = select.select([service], [], [], PATIENCE_S)
    assert ready, "no call came"
    (call,) = service.take()
    return call


def in_thread(pool: ThreadPoolExecutor, client: LeaseClient, method: str) -> Future[Message]:
    return pool.submit(client.call, method, report={"steps": 3.5})


@pytest.mark.parametrize("method", [REGISTER, EXTEND, END])
def test_a_call_waits_for_the_answer_of_another_thread(tmp_path: Path, method: str) -> None:
    with LeaseService(tmp_path) as service, ThreadPoolExecutor(1) as pool:
        client = LeaseClient(service.address, "job", 1)
        reply = in_thread(pool, client, method)
        call = next_call(service)
        assert call.method == method
        assert call.request == {"job": "job", "rank": 1, "report": {"steps": 3.5}}
        assert not reply.done()
        assert service.take() == []
        threading.Thread(target=call.answer, args=({"do": "end"},)).start()
        assert reply.result(PATIENCE_S) == {"do": "end"}
        client.close()


def test_each_of_several_workers_gets_its_own_answer(tmp_path: Path) -> None:
    with LeaseService(tmp_path) as service, ThreadPoolExecutor(3) as pool:
        clients = [LeaseClient(service.address, "job", rank) for rank in range(3)]
        replies = [in_thread(pool, client, EXTEND) for client in clients]
        calls: list[Call] = []
        while len(calls) < 3:
            assert select.select([service], [], [], PATIENCE_S)[0], "a call is missing"
            calls += service.take()
        for call in reversed(calls):
            call.answer({"rank": call.request["rank"]})
        assert [reply.result(PATIENCE_S) for reply in replies] == [{"rank": r} for r in range(3)]
        for client in clients:
            client.close()


def test_a_method_that_is_no_part_of_the_protocol_never_reaches_the_controller(
    tmp_path: Path,
) -> None:
    with LeaseService(tmp_path) as service:
        channel = grpc.insecure_channel(service.address, options=OPTIONS)
        call = channel.unary_unary(
            method_path("Steal"), request_serializer=encode, response_deserializer=decode
        )
        with pytest.raises(grpc.RpcError) as refused:
            call({"job": "job"}, timeout=PATIENCE_S)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert service.take() == []
        channel.close()


def test_a_lease_is_lost_once_the_service_goes_away(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        with LeaseService(tmp_path) as service:
            client = LeaseClient(service.address, "job", 0)
            reply = in_thread(pool, client, REGISTER)
            next_call(service)
        with pytest.raises(LeaseLostError):
            reply.result(PATIENCE_S)
        with pytest.raises(LeaseLostError):
            client.call(EXTEND)
        client.close()


def test_only_the_owner_may_connect(tmp_path: Path) -> None:
    with LeaseService(tmp_path):
        (socket,) = tmp_path.iterdir()
        assert stat.S_ISSOCK(socket.stat().st_mode)
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def test_a_path_that_no_unix_socket_can_have(tmp_path: Path) -> None:
    with pytest.raises(EmulationError, match="too long for a Unix socket"):
        LeaseService(tmp_path / ("d" * 107))


def test_a_message_is_an_object() -> None:
    message = {"do": "run", "resume_s": 0.1}
    assert decode(encode(message)) == message
    with pytest.raises(TypeError, match="not an object"):
        decode(b"[1]")
    with pytest.raises(ValueError, match="Expecting"):
        decode(b"no JSON")
