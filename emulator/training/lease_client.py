"""A worker's side of the lease protocol."""

from __future__ import annotations

import grpc

from emulator.messages import Message
from emulator.training.lease_protocol import OPTIONS, decode, encode, method_path

ANSWER_TIMEOUT_S = 60.0
"""A controller that has not answered for so long is taken for dead, and the lease for over."""


class LeaseLostError(Exception):
    """The controller is gone, or does not answer: the worker has to stop."""


class LeaseClient:
    """Calls of one worker. It must be made after the last fork: gRPC has threads."""

    def __init__(self, address: str, job: str, rank: int) -> None:
        self._channel = grpc.insecure_channel(address, options=OPTIONS)
        self._identity: Message = {"job": job, "rank": rank}

    def call(self, method: str, **fields: object) -> Message:
        """The controller's reply, which may take as long as its decision; or LeaseLostError."""
        call = self._channel.unary_unary(
            method_path(method), request_serializer=encode, response_deserializer=decode
        )
        try:
            reply: Message = call({**self._identity, **fields}, timeout=ANSWER_TIMEOUT_S)
        except grpc.RpcError as error:
            raise LeaseLostError(str(error.code())) from None
        return reply

    def close(self) -> None:
        """Give up the channel."""
        self._channel.close()
