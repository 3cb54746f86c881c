"""A refusal names the setting that was found to forbid, and no other."""

from __future__ import annotations

import errno

import pytest

from netshaper.namespace_limits import NamespaceLimits, read_limits, remedy

ALLOWED = {
    "user.max_user_namespaces": "63000",
    "user.max_net_namespaces": "63000",
    "user.max_mnt_namespaces": "63000",
    "kernel.unprivileged_userns_clone": "1",
    "kernel.apparmor_restrict_unprivileged_userns": "0",
}


def said(error_number: int, *, filtered: bool = False, **changes: str) -> str:
    changed = {name.replace("__", "."): value for name, value in changes.items()}
    return remedy(error_number, NamespaceLimits(ALLOWED | changed, filtered))


@pytest.mark.parametrize(
    ("number", "changes", "assignment"),
    [
        (errno.ENOSPC, {"user.max_user_namespaces": "0"}, "user.max_user_namespaces=10000"),
        (errno.ENOSPC, {"user.max_net_namespaces": "0"}, "user.max_net_namespaces=10000"),
        (
            errno.EPERM,
            {"kernel.unprivileged_userns_clone": "0"},
            "kernel.unprivileged_userns_clone=1",
        ),
        (
            errno.EACCES,
            {"kernel.apparmor_restrict_unprivileged_userns": "1"},
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_what_forbids_is_named_with_its_command(
    number: int, changes: dict[str, str], assignment: str
) -> None:
    text = remedy(number, NamespaceLimits(ALLOWED | changes, filtered=False))
    assert text.startswith(f"as root: sysctl -w {assignment};")
    assert text.count("=") == 1
    assert "sudo" in text


def test_two_that_forbid_are_both_named() -> None:
    text = said(
        errno.EPERM,
        kernel__unprivileged_userns_clone="0",
        kernel__apparmor_restrict_unprivileged_userns="1",
    )
    assert "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0" in (
        text
    )


def test_where_all_are_in_use_the_limits_are_given() -> None:
    text = said(errno.ENOSPC, user__max_net_namespaces="7")
    assert "as many are in use as may be" in text
    assert "user.max_net_namespaces is 7" in text


def test_a_seccomp_filter_is_named_only_where_there_is_one() -> None:
    assert "seccomp" in said(errno.EPERM, filtered=True)
    assert "seccomp" not in said(errno.EPERM)


def test_what_was_not_found_is_not_guessed() -> None:
    text = remedy(errno.EPERM, NamespaceLimits({}, filtered=False))
    assert text == (
        "no setting that forbids it was found; run the command with sudo, without --rootless"
    )


def test_this_kernels_settings_can_be_read() -> None:
    settings = read_limits().settings
    assert settings["user.max_user_namespaces"].isdecimal()
