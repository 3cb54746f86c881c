"""The counters of devices, as files of sysfs in a directory of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.network.device_counters import choose, find_devices
from traces.errors import BadInputError


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def ethernet(sysfs: Path, name: str, *, flags: str = "0x1003", kind: str = "1") -> Path:
    place = sysfs / "class/net" / name
    write(place / "flags", flags)
    write(place / "type", kind)
    write(place / "statistics/tx_bytes", "100")
    write(place / "statistics/rx_bytes", "200")
    return place


def rdma(sysfs: Path, name: str, port: str = "1", *, state: str = "4: ACTIVE") -> Path:
    place = sysfs / "class/infiniband" / name / "ports" / port
    write(place / "state", state)
    write(place / "counters/port_xmit_data", "18446744073709551600")
    write(place / "counters/port_rcv_data", "7")
    return place


def test_devices_that_are_up_without_the_loopback(tmp_path: Path) -> None:
    ethernet(tmp_path, "lo", flags="0x9", kind="772")
    ethernet(tmp_path, "eth1", flags="0x1002")
    (ethernet(tmp_path, "eth0") / "device").mkdir()
    (ethernet(tmp_path, "bond0") / "lower_eth0").mkdir()
    write(tmp_path / "class/net/bonding_masters", "bond0")
    bond, eth = find_devices(tmp_path).devices
    assert (bond.name, bond.is_physical, bond.lower) == ("bond0", False, ("eth0",))
    assert (eth.name, eth.is_physical, eth.lower, eth.unit_bytes) == ("eth0", True, (), 1)
    assert eth.sent.read_text() == "100\n"
    assert eth.received.read_text() == "200\n"
    assert eth.refresh_s is None


def test_ports_of_infiniband_and_roce(tmp_path: Path) -> None:
    infiniband = rdma(tmp_path, "mlx5_0")
    write(infiniband / "hw_counters/lifespan", "10")
    roce = rdma(tmp_path, "mlx5_1", "2")
    write(roce / "gid_attrs/ndevs/0", "eth2")
    write(tmp_path / "class/infiniband/mlx5_1/hw_counters/lifespan", "12")
    rdma(tmp_path, "mlx5_2", state="1: DOWN")
    one, other = find_devices(tmp_path).devices
    assert (one.name, one.unit_bytes, one.refresh_s, one.netdev) == ("mlx5_0/1", 4, 0.01, None)
    assert (other.name, other.refresh_s, other.netdev) == ("mlx5_1/2", 0.012, "eth2")
    assert one.sent.name == "port_xmit_data"
    assert one.received.name == "port_rcv_data"


def test_a_counter_that_is_none_is_said(tmp_path: Path) -> None:
    ethernet(tmp_path, "eth0")
    write(rdma(tmp_path, "mlx4_0") / "counters/port_rcv_data", "N/A (no PMA)")
    (rdma(tmp_path, "mlx4_1") / "counters/port_xmit_data").unlink()
    found = find_devices(tmp_path)
    assert [device.name for device in found.devices] == ["eth0"]
    assert found.unreadable == (
        ("mlx4_0/1", "port_rcv_data says 'N/A (no PMA)'"),
        ("mlx4_1/1", "port_xmit_data cannot be read: No such file or directory"),
    )
    with pytest.raises(BadInputError, match=r"--device: 'mlx4_0': port_rcv_data says"):
        choose(found, ("mlx4_0",))


def test_an_adapter_is_all_its_ports(tmp_path: Path) -> None:
    ethernet(tmp_path, "eth0")
    for port in ("1", "2"):
        rdma(tmp_path, "mlx5_0", port)
    found = find_devices(tmp_path)
    names = {
        words: [device.name for device in choose(found, words)]
        for words in ((), ("mlx5_0",), ("mlx5_0/2", "eth0"), ("eth0", "eth0"))
    }
    assert names == {
        (): ["eth0", "mlx5_0/1", "mlx5_0/2"],
        ("mlx5_0",): ["mlx5_0/1", "mlx5_0/2"],
        ("mlx5_0/2", "eth0"): ["mlx5_0/2", "eth0"],
        ("eth0", "eth0"): ["eth0"],
    }


@pytest.mark.parametrize("name", ["eth1", "../eth0", "mlx5_0", ""])
def test_a_device_that_is_not_there(tmp_path: Path, name: str) -> None:
    ethernet(tmp_path, "eth0")
    with pytest.raises(BadInputError, match="no such device is up; allowed: eth0"):
        choose(find_devices(tmp_path), (name,))


def test_a_machine_without_a_network(tmp_path: Path) -> None:
    ethernet(tmp_path, "lo", flags="0x9", kind="772")
    with pytest.raises(BadInputError, match="no network device is up"):
        choose(find_devices(tmp_path), ())
