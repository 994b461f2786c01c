"""Drives of each bus, held against what QEMU was told; drives in use; and drives that fail while they are measured."""

import json
import re
import shlex
from pathlib import Path

import pytest

import pslc
from tests.conftest import ROOT
from tests.served import served
from tests.vm.guest import Guest, drive, image, needs_guest, run

pytestmark = [pytest.mark.vm, needs_guest]

MB = 1 << 20
SIZE = 128 * MB
LOAD = "load virtio_blk nvme ahci sd_mod uas usb_storage xhci_pci virtio_scsi ext4 dm_mod raid0; sleep 3\n"
SERVED = "sim:pm871b-128gb,capacity=4GiB,scale=1/32"
AS_NVME = re.findall(r"^qemu-system-x86_64 (.*)$", (ROOT / "docs" / "nvme.md").read_text(), flags=re.M)[0]
"""QEMU's words for an NVMe drive over a served one."""
RUN = "pslc run fill --destroy-data {0} --yes --no-report --save /run/share/{0} --on $(on {0})"


def small(folder: Path, name: str, device: str, more: str = "discard=unmap") -> list[str]:
    """QEMU's words for a drive, whose serial number is its name."""
    return drive(image(folder / f"{name}.img", SIZE), f"{device},serial={name}", more)


def test_probe_tells_what_each_drive_is(tmp_path):
    words = [
        *small(tmp_path, "fast", "nvme,mdts=3"),
        *["-device", "nvme,id=ctl,serial=large"],
        *drive(image(tmp_path / "large.img", SIZE), "nvme-ns,bus=ctl,logical_block_size=4096,physical_block_size=4096"),
        *["-device", "ahci,id=ahci"],
        *small(tmp_path, "sata", "ide-hd,bus=ahci.0,model=Seventeen letters,rotation_rate=1"),
        *["-device", "qemu-xhci,id=usb", "-device", "usb-uas,id=bridge,bus=usb.0"],
        *small(tmp_path, "uas", "scsi-hd,bus=bridge.0,rotation_rate=1"),
        *small(tmp_path, "stick", "usb-storage,bus=usb.0"),
        *["-device", "virtio-scsi-pci,id=scsi", *small(tmp_path, "disk", "scsi-hd,bus=scsi.0,rotation_rate=7200")],
        *small(tmp_path, "virt", "virtio-blk-pci"),
        *shlex.split(AS_NVME.replace("/tmp/served", str(tmp_path / "sim.sock"))),
    ]
    expected = {
        "fast": ("NVMe", 512, 0), "large": ("NVMe", 4096, 0), "sata": ("SATA", 512, 0), "uas": ("USB", 512, 0),
        "stick": ("USB", 512, None), "disk": ("virtio", 512, 1), "virt": ("virtio", 512, None),
        "SIM1": ("NVMe", 512, 0),
    }  # fmt: skip
    job = "".join(f"pslc probe --json $(on {name}) > /run/share/{name}.json\n" for name in expected)
    with served(tmp_path, SERVED, "--unix", "sim.sock", "--data", "none"):
        output = run(LOAD + job, tmp_path / "share", words)
    for name, (bus, block, rotational) in expected.items():
        facts = json.loads((tmp_path / "share" / f"{name}.json").read_text() or output)
        of = facts["device"]
        assert (of["bus"], of["logical_block_bytes"], of["bytes"]) == (bus, block, SIZE), name
        assert rotational is None or of["rotational"] == rotational, name
        assert of["serial"] == name
        # QEMU's SATA drive has passed its test at 31 C; its kernel module for thermometers is not loaded.
        assert name != "sata" or facts["now"]["smart"]["smart_status"] == {"passed": True}
        assert name != "sata" or (of["model"], facts["now"]["temperature_c"]) == ("Seventeen letters", 31)
        # mdts=3: 2^3 pages of 4 KiB a request.
        assert name != "fast" or of["largest_request_bytes"] == 8 * 4096


def test_a_drive_in_use_is_never_written_to(tmp_path):
    names = ["mounted", "volume", "member", "swap"]
    words = [word for name in names for word in small(tmp_path, name, "nvme")]
    words += ["-device", "nvme,id=ctl,serial=spaces"]
    for number in (1, 2):
        words += drive(image(tmp_path / f"space{number}.img", SIZE), f"nvme-ns,bus=ctl,nsid={number}")
    job = """
    mkfs.ext4 -q $(on spaces); mkdir /mnt/b; mount -o noinit_itable $(on spaces) /mnt/b
    echo also precious > /mnt/b/file; sync
    pslc run fill --on $(on spaces | sed s/n1$/n2/) --destroy-data spaces --yes --no-report --save /run/share/second
    echo "second namespace: exit code $?"
    mkfs.ext4 -q $(on mounted); mkdir /mnt/a; mount -o noinit_itable $(on mounted) /mnt/a
    echo precious > /mnt/a/file; sync
    dmsetup create lv --table "0 100000 linear $(on volume) 0"
    mdadm --create /dev/md0 --run --level=0 --force --raid-devices=1 $(on member) > /dev/null
    mkswap $(on swap) > /dev/null; swapon $(on swap)
    for name in mounted volume member swap spaces; do
      dd if=$(on $name) bs=1M count=4 2>/dev/null | md5sum > before
      pslc run fill --on $(on $name) --destroy-data $name --wipe-signatures --yes --no-report --save /run/share/$name
      echo "$name: exit code $?"
      dd if=$(on $name) bs=1M count=4 2>/dev/null | md5sum | cmp - before && echo "$name: unchanged"
    done
    echo 3 > /proc/sys/vm/drop_caches; cat /mnt/a/file /mnt/b/file
    """
    output = run(LOAD + job, tmp_path / "share", words)
    print(output)
    for name in [*names, "spaces"]:
        assert f"{name}: exit code 2" in output
        assert f"{name}: unchanged" in output
    # QEMU's drive claims a link of 312 MB/s, and has one power state.
    assert "more than the link of 312 MB/s" in re.sub(r"\s+", " ", output)
    assert "NVMe power states" not in output
    assert "another namespace of the drive, is in use" in output
    assert "second namespace: exit code 0" in output
    assert output.count("is in use") == len(names) + 2
    assert "precious\nalso precious" in output


PULLED = {"pulled": "nvme", "disk": "scsi-hd,bus=scsi.0"}
"""Drives that are pulled out. One behind usb-uas is measured and not pulled out: QEMU 7.2 aborts there."""
THROTTLE = dict.fromkeys(("bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0)


def test_a_drive_that_fails_during_a_run_is_named(tmp_path):
    bad = image(tmp_path / "medium.img", SIZE)
    fails = (
        f"driver=blkdebug,node-name=medium,image.driver=file,image.filename={bad},inject-error.0.event=none,"
        "inject-error.0.iotype=write,inject-error.0.errno=5,inject-error.0.sector=200000,inject-error.0.once=off,"
        "inject-error.0.immediately=on"
    )
    words = [
        *["-blockdev", fails, "-device", "nvme,drive=medium,serial=medium"],
        *small(tmp_path, "worn", "nvme"),
        *small(tmp_path, "silent", "nvme"),
    ]
    job = f"""
    {RUN.format("medium")}
    echo @worn; until [ -e /run/share/worn ]; do sleep 0.2; done
    pslc probe $(on worn)
    {RUN.format("silent")} --rate=10m; echo "silent: exit code $?"
    """
    with Guest(LOAD + job, tmp_path / "share", words) as guest:
        guest.wait_for(lambda: "@worn" in guest.printed())
        guest.ask("qom-set", path="/machine/peripheral/worn", property="smart_critical_warning", value=0b1001)
        (tmp_path / "share" / "worn").touch()
        guest.wait_for(lambda: guest.written("silent") > 16 * MB)
        guest.ask("block_set_io_throttle", id="silent", **{**THROTTLE, "bps_wr": 1000})
        guest.wait_for(lambda: "no request answered for" in guest.printed())
        guest.ask("block_set_io_throttle", id="silent", **THROTTLE)
        output = guest.wait()
    print(output)
    words_of = re.sub(r"\s+", " ", output)
    assert "reported a medium error there" in words_of
    assert "reports that its spare blocks are below its limit" in words_of
    assert "reports that it can only be read" in words_of
    assert "the drive answers again, after" in words_of
    assert "silent: exit code 0" in words_of
    assert "for other programs" not in words_of
    assert pslc.load(tmp_path / "share" / "medium").error_code == "run-medium-error"


def test_a_drive_that_is_pulled_out_during_a_run_is_named(tmp_path):
    words = ["-device", "virtio-scsi-pci,id=scsi", "-device", "qemu-xhci,id=usb"]
    words += ["-device", "usb-uas,id=bridge,bus=usb.0", *small(tmp_path, "uas", "scsi-hd,bus=bridge.0")]
    words += [word for name, device in PULLED.items() for word in small(tmp_path, name, device)]
    job = f"""
    {RUN.format("uas")}; echo "uas: exit code $?"
    for of in {" ".join(PULLED)}; do {RUN.format("$of")} --rate=5m; done
    """
    with Guest(LOAD + job, tmp_path / "share", words) as guest:
        for name in PULLED:
            guest.wait_for(lambda name=name: guest.written(name) > 16 * MB)
            guest.ask("device_del", id=name)
        output = guest.wait()
    print(output)
    assert len(re.findall(r"(nvme0n1|sd[ab]) (is gone|answers nothing)", re.sub(r"\s+", " ", output))) >= len(PULLED)
    assert "free some space" not in output
    assert "uas: exit code 0" in output
    assert [pslc.load(tmp_path / "share" / name).error_code for name in PULLED] == ["device-gone"] * len(PULLED)


def test_an_array_is_measured_by_its_own_identity(tmp_path):
    words = [word for name in ("one", "two", "three") for word in small(tmp_path, name, "nvme")]
    job = """
    mdadm --create /dev/md0 --run --level=0 --raid-devices=2 $(on one) $(on two) > /dev/null
    dmsetup create volume --uuid LVM-abc --table "0 200000 linear $(on three) 0"
    for of in md0 dm-0; do
      pslc probe --json /dev/$of > /run/share/$of.json
      serial=$(pslc probe /dev/$of | sed -n '/^device/,/^host/s/^  serial *//p')
      pslc run fill --on /dev/$of --destroy-data one --yes --no-report; echo "$of by a member: exit code $?"
      pslc run fill --on /dev/$of --destroy-data "$serial" --yes --no-report --save /run/share/$of
    done
    """
    output = run(LOAD + job, tmp_path / "share", words)
    print(output)
    for name, model, members in [("md0", "raid0", ["one", "two"]), ("dm-0", "volume", ["three"])]:
        facts = json.loads((tmp_path / "share" / f"{name}.json").read_text() or output)
        assert (facts["device"]["name"], facts["device"]["model"]) == (name, model)
        assert [drive["serial"] for drive in facts["members"]] == members
        assert f"{name} by a member: exit code 2" in output
        recording = pslc.load(tmp_path / "share" / name)
        assert recording.written_bytes == facts["device"]["bytes"] // MB * MB
        assert f"serial number {facts['device']['serial']}, on nvme" in re.sub(r"\s+", " ", output)
    assert "drive's traffic" not in output
    assert "file system reaches" not in output
