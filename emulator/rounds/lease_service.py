"""The controller's side of the lease protocol: a gRPC server on a Unix socket, in a thread.

It decides nothing. Calls wait in it until the controller, one thread, has answered them.
"""

from __future__ import annotations

import asyncio
import collections
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import grpc

from emulator.messages import Message
from emulator.training.lease_protocol import (
    METHODS,
    OPTIONS,
    SERVICE,
    decode,
    encode,
)
from traces.errors import EmulationError

_START_TIMEOUT_S = 10.0
_MAX_SOCKET_PATH_BYTES = 107  # unix(7), without the final zero


@dataclass(frozen=True)
class Call:
    """A worker's call that waits for its answer."""

    method: str
    request: Message
    _answer: asyncio.Future[Message]
    _loop: asyncio.AbstractEventLoop

    def answer(self, reply: Message) -> None:
        """Let the worker go on. From any thread; a worker that is gone does not mind."""
        self._loop.call_soon_threadsafe(self._settle, reply)

    def _settle(self, reply: Message) -> None:
        if not self._answer.done():
            self._answer.set_result(reply)


class LeaseService:
    """Context of the server. ``fileno`` is readable while calls wait to be taken."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "leases.sock"
        if len(os.fsencode(self._path)) > _MAX_SOCKET_PATH_BYTES:
            raise EmulationError(f"the path {self._path} is too long for a Unix socket")
        self._calls: collections.deque[Call] = collections.deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def address(self) -> str:
        """Where workers find it."""
        return f"unix:{self._path}"

    def fileno(self) -> int:
        """For selectors."""
        return self._wake

    def __enter__(self) -> LeaseService:
        self._thread.start()
        if not self._started.wait(_START_TIMEOUT_S) or self._error is not None:
            raise EmulationError(f"the lease service does not start: {self._error}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        os.close(self._wake)

    def take(self) -> list[Call]:
        """The calls that have come since, in order."""
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return []
        return [self._calls.popleft() for _ in range(len(self._calls))]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except Exception as error:
            self._error = error
            self._started.set()

    async def _serve(self) -> None:
        server = grpc.aio.server(options=OPTIONS)
        handlers = {
            method: grpc.unary_unary_rpc_method_handler(
                self._handler(method), request_deserializer=decode, response_serializer=encode
            )
            for method in METHODS
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        server.add_insecure_port(self.address)
        await server.start()
        self._path.chmod(0o600)
        self._started.set()
        await self._stop.wait()
        await server.stop(grace=None)

    def _handler(self, method: str) -> Callable[[Message, object], Awaitable[Message]]:
        async def handle(request: Message, _: object) -> Message:
            answer: asyncio.Future[Message] = self._loop.create_future()
            self._calls.append(Call(method, request, answer, self._loop))
            os.eventfd_write(self._wake, 1)
            return await answer

        return handle
