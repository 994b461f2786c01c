"""UFS drives with WriteBooster, and an eMMC, which QEMU has since 11: what they report, and the kernel's switch."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import pslc
from pslc.schema.cache_setting import CacheSetting
from pslc.schema.facts import CACHE_FREE_TENTHS
from tests.vm.guest import KERNEL, Guest, drive, image, needs_guest

QEMU = KERNEL / "qemu" / "qemu"
UNITS = 512
UNIT_BYTES = 4 << 20

pytestmark = [
    pytest.mark.vm,
    needs_guest,
    pytest.mark.skipif(not QEMU.exists(), reason=f"there is no QEMU 11: tests/vm/newer_qemu {QEMU.parent} fetches it"),
]

BIND = """
A=0000:00:08.0; U=/sys/bus/pci/devices/$A
echo 0 > /proc/sys/kernel/kptr_restrict; echo 0 > /sys/bus/pci/drivers_autoprobe; load sd_mod ufshcd_pci ext4
[ ! -e $U/driver ] || echo $A > $U/driver/unbind
V=$(grep ' ufs_intel_mtl_hba_vops' /proc/kallsyms | cut -d' ' -f1)
echo "1b36 0013 ffffffff ffffffff 0 0 $V" > /sys/bus/pci/drivers/ufshcd/new_id
[ -e $U/driver ] || echo $A > /sys/bus/pci/drivers/ufshcd/bind
sleep 2; D=/dev/$(basename $U/host*/target*/*/block/sd*)
"""
"""QEMU's own entry in the driver's table does not allow WriteBooster; that of another host controller does."""
NO_SWITCH = """
time -f "probed in %e s" pslc probe --json $D > /run/share/probe.json
mkfs.ext4 -q $D; mkdir /mnt/a; mount $D /mnt/a; cd /mnt/a
pslc run fill --on ./x --size 48MB --yes --no-report --buffer off; echo "refused: $?"
pslc run fill --on ./x --size 48MB --yes --no-report --save /run/share/fill
"""
CARD = """
load sdhci_pci mmc_block; mount -t debugfs none /sys/kernel/debug; sleep 2; D=/dev/mmcblk0
time -f "probed in %e s" pslc probe --json $D > /run/share/probe.json
pslc run fill --on $D --destroy-data 0xdeadbeef --size 4MB --yes --no-report --buffer off; echo "refused: $?"
"""
LONGEST_PROBE_S = 10
SETTINGS = 20
REPORTS = """
echo 0 > /proc/sys/kernel/kptr_restrict; echo 0 > /sys/bus/pci/drivers_autoprobe; load sd_mod ufshcd_pci
cat > reports.py <<'END'
import json
import time
from pathlib import Path
from pslc.device import cache_report, cache_switch
from pslc.schema.cache_setting import CacheSetting
driver, rows = Path("/sys/bus/pci/drivers/ufshcd"), []
pci = sorted(Path("/sys/bus/pci/devices").iterdir())
hosts = [host for host in pci if (host / "vendor").read_text() + (host / "device").read_text() == "0x1b36\\n0x0013\\n"]
for host in hosts:
    if (host / "driver").exists():
        (host / "driver/unbind").write_text(host.name)
    (host / "driver_override").write_text("none")
of = next(line for line in Path("/proc/kallsyms").open() if " ufs_intel_mtl_hba_vops" in line).split()[0]
(driver / "new_id").write_text(f"1b36 0013 ffffffff ffffffff 0 0 {of}")
for host in hosts:
    (host / "driver_override").write_text("\\n")
    (driver / "bind").write_text(host.name)
    while not (disks := list(host.glob("host*/target*/*/block/sd*"))):
        time.sleep(0.1)
    before, switched = cache_report.cache_report(disks[0]), []
    for setting in CacheSetting:
        with cache_switch.switched(disks[0], setting, None):
            switched.append(cache_report.cache_report(disks[0]))
    rows.append([before, switched, cache_report.cache_report(disks[0])])
    print(host.name, rows[-1][0], flush=True)
    (driver / "unbind").write_text(host.name)
Path("/run/share/reports.json").write_text(json.dumps(rows))
END
python reports.py
"""
"""The same, a drive at a time: several at once share interrupts, and lose some."""
SWITCH = """
mkfs.ext4 -q $D; mkdir /mnt/a; mount $D /mnt/a; cd /mnt/a
RUN="pslc run fill --on ./x --size 48MB --yes --no-report"
pslc probe --json . > /run/share/probe.json
$RUN --save /run/share/off --buffer off; echo "after a run: on $(cat $U/wb_on)"
$RUN --save killed --buffer off --rate=1m & until [ $(cat $U/wb_on) = 0 ] || ! kill -0 $!; do sleep 0.1; done
kill -9 $!; echo "killed: on $(cat $U/wb_on)"
pslc undo killed; echo "undone: on $(cat $U/wb_on)"
"""


def test_a_ufs_drive_reports_its_buffer_and_its_switch_comes_back(tmp_path):
    words = [
        *["-device", f"ufs,serial=u1,id=ufs0,wb-max-size={UNITS},wb-min-size=128,addr=8"],
        *drive(image(tmp_path / "lu.img", 8 << 30), "ufs-lu,bus=ufs0,lun=0"),
    ]
    with Guest(BIND + SWITCH, tmp_path / "share", words, qemu=str(QEMU)) as guest:
        output = guest.wait()
    print(output)
    facts = json.loads((tmp_path / "share" / "probe.json").read_text() or output)
    cache = facts["now"]["cache"]
    assert (facts["device"]["bus"], facts["device"]["serial"]) == ("UFS", None)
    assert (cache["most_bytes"], cache["free_tenths"], cache["is_on"]) == (UNITS * UNIT_BYTES, 10, True)
    recording = pslc.load(tmp_path / "share" / "off")
    assert [recording.facts[at]["cache"]["is_on"] for at in ("before", "after")] == [False, False]
    for words_of in ("after a run: on 1", "killed: on 0", "undone: on 1"):
        assert words_of in output


def test_what_20_ufs_drives_report_is_what_qemu_was_told(tmp_path):
    draw, words = random.Random(1), []
    sizes = [draw.randrange(1, 800) for _ in range(SETTINGS)]
    for number, units in enumerate(sizes):
        limits = f"wb-max-size={units},wb-min-size={draw.randint(1, units)}"
        words += ["-device", f"ufs,serial=u{number},id=ufs{number},{limits},addr={8 + number:x}"]
        words += drive(image(tmp_path / f"lu{number}.img", 8 << 30), f"ufs-lu,bus=ufs{number},lun=0")
    with Guest(REPORTS, tmp_path / "share", words, qemu=str(QEMU)) as guest:
        output = guest.wait()
    print(output)
    rows = json.loads((tmp_path / "share" / "reports.json").read_text())
    assert len(rows) == SETTINGS
    for units, (before, switched, after) in zip(sizes, rows, strict=True):
        assert (before["most_bytes"], before["type"], before["free_tenths"]) == (units * UNIT_BYTES, "shared", 10)
        assert before["not_switched"] is None
        assert [report["is_on"] for report in switched] == [setting is not CacheSetting.OFF for setting in CacheSetting]
        assert after == before


def probed(job: str, words: list[str], share: Path) -> tuple[dict[str, Any], str]:
    """What `probe` says of the cache of a drive, and what a guest that runs this job prints."""
    with Guest(job, share, words, qemu=str(QEMU)) as guest:
        output = guest.wait()
    print(output)
    assert float(output.partition("probed in ")[2].split()[0]) < LONGEST_PROBE_S
    assert "refused: 2" in output
    return json.loads((share / "probe.json").read_text())["now"]["cache"], output


def test_a_driver_without_the_switch_is_said_and_the_free_share_recorded(tmp_path):
    words = ["-device", f"ufs,id=ufs0,wb-max-size={UNITS},wb-min-size=128,addr=8"]
    words += drive(image(tmp_path / "lu.img", 8 << 30), "ufs-lu,bus=ufs0,lun=0")
    cache, output = probed(BIND.replace("$V", "0") + NO_SWITCH, words, tmp_path / "share")
    assert (cache["most_bytes"], cache["is_on"], cache["bits_per_cell"]) == (UNITS * UNIT_BYTES, False, 3)
    assert cache["not_switched"] == "the driver does not allow it"
    assert "the SLC buffer cannot be switched: the driver does not allow it" in output
    free = pslc.load(tmp_path / "share" / "fill").bytes[CACHE_FREE_TENTHS]
    assert set(free) == {10}


def test_an_emmc_reports_its_register_and_has_no_switch(tmp_path):
    words = ["-device", "sdhci-pci,addr=9", *drive(image(tmp_path / "card.img", 1 << 30), "emmc")]
    cache, output = probed(CARD, words, tmp_path / "share")
    assert (cache["kind"], cache["bytes"], cache["volatile_bytes"]) == ("eMMC", 0, 0)
    assert (cache["queue_is_on"], cache["reserve"], cache["slc_wear"]) == (False, None, None)
    assert "the drive has no SLC buffer with a switch" in output
