"""The user who called, also behind sudo."""

from __future__ import annotations

from collections.abc import Mapping


def calling_user(environment: Mapping[str, str]) -> tuple[int, int] | None:
    """(uid, gid) of who called sudo; None where nobody did."""
    uid, gid = environment.get("SUDO_UID", ""), environment.get("SUDO_GID", "")
    return (int(uid), int(gid)) if uid.isdecimal() and gid.isdecimal() else None
