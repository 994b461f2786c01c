"""Programs that count a drive at work: iostat in all its forms, sar, dstat, collectl, counters of Windows, vmstat, ZFS
and Prometheus."""

import pytest

from pslc import PslcError
from tests.formats import made

SPEEDS = made.speeds()
GOOD = pytest.approx(made.TOTAL_BYTES, rel=0.005)
LINUX = "Linux 6.8.0 (host) \t05/01/26 \t_x86_64_\t(8 CPU)\n\n"


def written(data):
    assert data.load is not None
    return float(data.load.write_bytes.sum())


def clock(second):
    return f"12:{second // 60:02}:{second % 60:02}"


def iostat(step=1, blank="", stack=("sda",)):
    """Extended, in MB/s of two digits, a report since the machine began first."""
    header = "Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz await  %util\n" + blank
    rows = [LINUX + header + "".join(f"{name}  0.00 0.00 0.00 15.26 0.00 1.91 256.00 0.60 99.80\n" for name in stack)]
    for at in range(0, len(SPEEDS), step):
        mean = sum(SPEEDS[at : at + step]) / step / 2**20
        rate = round(mean * 8 * step) / step
        own = "".join(f"{name}  0.00 0.00 0.00 {rate:.2f} 0.00 {mean:.2f} 256.00 0.60 99.80\n" for name in stack)
        rows.append(header + own)
    return "\n".join(rows) + "\n"


def test_the_interval_of_an_iostat_without_times_is_told_by_the_fractions_of_requests(tmp_path):
    data = made.read(tmp_path, iostat(step=2))
    assert written(data) == GOOD
    assert "intervals of 2.00 s, by the fractions of requests" in data.read_as


def test_an_interval_that_nothing_tells_is_assumed_aloud_and_can_be_given(tmp_path):
    text = "\n".join(line.replace(".00 0.00", ".37 0.00") for line in iostat().splitlines())
    data = made.read(tmp_path, text)
    assert "intervals of 1 s are assumed" in data.cautions[0]
    assert written(made.read(tmp_path, text, interval_s=2.0)) == pytest.approx(2 * written(data))


def test_a_line_left_free_below_the_names_is_no_end_of_the_table(tmp_path):
    assert written(made.read(tmp_path, iostat(blank="\n"))) == GOOD


def test_what_lies_on_a_drive_is_left_out(tmp_path):
    data = made.read(tmp_path, iostat(stack=("dm-0", "nvme0n1", "nvme0n1p2")))
    assert data.name.startswith("nvme0n1 in")
    assert written(data) == GOOD
    assert "dm-0, nvme0n1p2 are parts of nvme0n1, or lie on it" in data.notes[-1]


def test_the_hint_names_the_busiest_device(tmp_path):
    text = iostat(stack=("sda", "sdb")).replace("sda  0.00 0.00 0.00", "sda  0.00 0.00 9.00")
    text = "\n".join(
        " ".join([*line.split()[:6], "5.00", *line.split()[7:]]) if line.startswith("sda") else line
        for line in text.splitlines()
    )
    with pytest.raises(PslcError, match=r"sdb, sda, the busiest first[\s\S]*--device sdb"):
        made.read(tmp_path, text)


def test_iostat_without_x(tmp_path):
    header = "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
    rows = "".join(f"{header}sda {v / 131072:.2f} 0.00 {v / 1024:.2f} 0.00 0 {v / 1024:.0f} 0\n\n\n" for v in SPEEDS)
    data = made.read(tmp_path, f"{LINUX}{header}sda 9.00 0.00 2000.00 0.00 0 2000 0\n\n\n{rows}")
    assert written(data) == GOOD
    assert data.load.writes.sum() == pytest.approx(made.TOTAL_BYTES / 131072, rel=0.01)


@pytest.mark.parametrize("human", [False, True])
def test_iostat_with_the_name_last_and_several_tables_a_report(human, tmp_path):
    def report(speed):
        rate = f"{speed / 2**20:.2f}M" if human else f"{speed / 1024:.2f}"
        util = "99.8%" if human else "99.80"
        return (
            f"     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n 0.00 0.00 0.00 0.00 0.00 0.00 nvme0n1\n\n"
            f"     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n"
            f"{speed / 131072:.2f} {rate} 0.00 0.00 0.55 128.00 nvme0n1\n\n"
            f"     f/s f_await  aqu-sz  %util Device\n 0.00 0.00 8.00 {util} nvme0n1\n\n\n"
        )

    data = made.read(tmp_path, LINUX + report(2e6) + "".join(report(speed) for speed in SPEEDS))
    assert written(data) == GOOD
    assert data.load.busy_s.sum() == pytest.approx(99.8, rel=0.01)


def test_iostat_through_jc(tmp_path):
    rows = [f'{{"type": "device", "device": "sda", "r_s": 0.0, "rkb_s": 0.0, "w_s": {v / 131072}, "wkb_s": {v / 1024}, '
            f'"w_await": 0.6, "aqu_sz": 8.0, "percent_util": 99.8}}' for v in SPEEDS]  # fmt: skip
    data = made.read(tmp_path, f'[{{"type": "cpu", "percent_user": 0.5}}, {", ".join(rows)}]')
    assert written(data) == GOOD
    assert "like the second, as with -y" in data.notes[0]


def test_sar_of_everything_is_read_for_its_devices(tmp_path):
    def report(second, speed):
        return (
            f"{clock(second - 1)}        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
            f"{clock(second)}        all      1.00      0.00      1.00      0.00      0.00     98.00\n\n"
            f"{clock(second - 1)}        DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz     await     %util\n"
            f"{clock(second)}        sda   {speed / 131072:.2f}   0.00 {speed / 1024:.2f}  0.00  128.0  0.6  99.8\n\n"
        )

    text = LINUX + "".join(report(second, speed) for second, speed in enumerate(SPEEDS, 1))
    assert written(made.read(tmp_path, text)) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        LINUX + "12:00:01        CPU     %user     %idle\n12:00:02        all      1.00    99.00\n",
        "# hostname;interval;timestamp;CPU;%user;%idle\nhost;600;2026-05-01 12:10:01 UTC;-1;2.84;91.66\n",
    ],
)
def test_sar_of_processors_says_how_to_get_devices(text, tmp_path):
    with pytest.raises(PslcError, match=r"tells nothing of devices[\s\S]*sadf -d FILE -- -d"):
        made.read(tmp_path, text)


def test_dstat(tmp_path):
    rows = "".join(f'"01-05 {clock(s)}",0.0,{v:.3f}\n' for s, v in enumerate(SPEEDS, 1))
    head = '"pcp-dstat 6.0 CSV Output"\n"Host:","h",,,,"User:","u"\n"system","dsk/total",,\n"time","read","writ"\n'
    data = made.read(tmp_path, head + rows, "load.csv")
    assert written(data) == GOOD
    assert "rB/s and wB/s of total" in data.read_as


@pytest.mark.parametrize("mark", [" ", ","])
def test_collectl(mark, tmp_path):
    names = ["#Date", "Time", "[DSK]ReadTot", "[DSK]WriteTot", "[DSK]ReadKBTot", "[DSK]WriteKBTot"]
    rows = [["20260501", clock(s), "0", f"{v / 131072:.0f}", "0", f"{v / 1024:.0f}"] for s, v in enumerate(SPEEDS, 1)]
    data = made.read(tmp_path, "\n".join(mark.join(row) for row in [names, *rows]) + "\n", "load.tab")
    assert written(data) == GOOD


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_counters_of_windows(encoding, tmp_path):
    kinds = [(disk, kind) for disk in ("0 C:", "_Total") for kind in ("Read", "Write")]
    names = ["(PDH-CSV 4.0) (Romance Daylight Time)(-120)"]
    names += [rf"\\HOST\PhysicalDisk({disk})\Disk {kind} Bytes/sec" for disk, kind in kinds]
    rows = [["05/01/2026 12:00:00.123", " ", " ", " ", " "]]
    rows += [[f"05/01/2026 {clock(s)}.123", "0.000", f"{v:.6f}", "0.000", f"{v:.6f}"] for s, v in enumerate(SPEEDS, 1)]
    text = "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in [names, *rows])
    data = made.read(tmp_path, f"\r\n{text}\r\nExiting, please wait...\r\n".encode(encoding), "load.csv")
    assert written(data) == GOOD
    assert data.name.startswith("0 C: in")


def test_vmstat(tmp_path):
    head = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    head += " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    rows = "".join(f" 1  0      0 100000   1000  50000    0    0     0 {v / 1024:.0f}  100  200  1  1 98  0  0\n"
                   for v in [2e6, *SPEEDS])  # fmt: skip
    data = made.read(tmp_path, head + rows)
    assert written(data) == GOOD
    assert "all devices of the machine together" in data.notes[-1]


def test_zpool_iostat_with_devices(tmp_path):
    head = "              capacity     operations     bandwidth\npool        alloc   free   read  write   read  write\n"
    rule = "----------  -----  -----  -----  -----  -----  -----\n"
    reports = [
        f"Fri May  1 {clock(s)} CEST 2026\n{head}{rule}"
        f"tank        1.00T  2.00T      0  {v / 131072:.0f}      0  {v / 2**20:.1f}M\n"
        f"  sda           -      -      0  {v / 131072:.0f}      0  {v / 2**20:.1f}M\n{rule}"
        for s, v in enumerate([2e6, *SPEEDS])
    ]
    assert written(made.read(tmp_path, "".join(reports))) == GOOD
    assert written(made.read(tmp_path, "".join(reports), device="tank")) == GOOD


def test_scrapes_of_node_exporter(tmp_path):
    text, total = "", 7e12
    for second, speed in enumerate([0.0, *SPEEDS]):
        total += speed
        text += "# HELP node_disk_written_bytes_total The total number of bytes written successfully.\n"
        text += f'node_disk_written_bytes_total{{device="sda"}} {total:.9e}\n'
        text += f'node_disk_read_bytes_total{{device="sda"}} 1e+09\nnode_time_seconds {1.7e9 + second:.9e}\n'
    assert written(made.read(tmp_path, text, "load.prom")) == GOOD
    with pytest.raises(PslcError, match="one scrape of counters, which has no intervals"):
        made.read(tmp_path, text.partition("node_time")[0], "load.prom")


def test_how_a_load_was_understood_is_a_line_of_the_output(tmp_path, command):
    (tmp_path / "io.txt").write_text(iostat())
    assert "note: read as iostat: rMB/s and wMB/s of sda" in command("analyze", "io.txt").stdout


def test_an_old_iostat_writes_time_before_its_times(tmp_path):
    reports = iostat().split("\n\n", 1)[1].split("Device:")[1:]
    text = LINUX + "\n".join(
        f"Time: 03:{at // 60:02}:{at % 60:02} PM\nDevice:{each}" for at, each in enumerate(reports)
    )
    data = made.read(tmp_path, text)
    assert written(data) == GOOD
    assert not data.cautions
    assert data.read_as.endswith("intervals of 1.00 s")


def test_one_report_has_no_intervals_and_says_so(tmp_path):
    one_report = "Device".join(iostat().split("Device")[:2])
    with pytest.raises(PslcError, match="holds one report of sda, of the time since the machine began"):
        made.read(tmp_path, one_report)
