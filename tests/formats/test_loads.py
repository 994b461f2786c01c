"""Programs that count a drive at work: iostat in all its forms, sar, dstat, collectl, counters of Windows, vmstat, ZFS
and Prometheus."""

import io
import json
import subprocess
import sys
import tracemalloc
from itertools import chain, repeat

import pytest

from pslc import PslcError
from pslc.base import gate
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
    assert "intervals of 1 s are assumed" in data.of_level("warning")[0]
    assert written(made.read(tmp_path, text, interval_s=2.0)) == pytest.approx(2 * written(data))


def test_a_line_left_free_below_the_names_is_no_end_of_the_table(tmp_path):
    assert written(made.read(tmp_path, iostat(blank="\n"))) == GOOD


def test_what_lies_on_a_drive_is_left_out(tmp_path):
    data = made.read(tmp_path, iostat(stack=("dm-0", "nvme0n1", "nvme0n1p2")))
    assert data.name.startswith("nvme0n1 in")
    assert written(data) == GOOD
    assert "dm-0, nvme0n1p2 are parts of nvme0n1, or lie on it" in str(data.of_level("note"))


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
    assert "like the second, as with -y" in data.of_level("note")[0]


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
    assert "all devices of the machine together" in data.of_level("note")[-1]


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
    assert not data.of_level("warning")
    assert data.read_as.endswith("intervals of 1.00 s")


def test_one_report_has_no_intervals_and_says_so(tmp_path):
    one_report = "Device".join(iostat().split("Device")[:2])
    with pytest.raises(PslcError, match="holds one report of sda, which may be of the time since the machine began"):
        made.read(tmp_path, one_report)


def vmstat(first):
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = " 1  0      0 100000   1000  50000    0    0  7400 {:.0f}  100  200  1  1 98  0  0\n"
    return head + "".join(row.format(rate) for rate in [first, *[150] * 20])


@pytest.mark.parametrize("first", [5400, 150])
def test_the_first_row_of_vmstat_is_of_the_time_since_the_machine_began_whatever_it_is(first, tmp_path):
    data = made.read(tmp_path, vmstat(first))
    assert written(data) == pytest.approx(20 * 150 * 1024)


def dstat(head, speeds):
    rows = "".join(f'"01-05 {clock(s)}",0.0,{v:.3f}\n' for s, v in enumerate(speeds, 1))
    return f'"{head} CSV Output"\n"system","dsk/total",,\n"time","read","writ"\n{rows}'


@pytest.mark.parametrize(("program", "rows"), [("dstat 0.7.3", 9), ("pcp-dstat 6.0", 10)])
def test_the_first_row_of_dstat_is_of_the_time_since_the_machine_began_but_not_pcps(program, rows, tmp_path):
    assert written(made.read(tmp_path, dstat(program, [5e8] * 10), "load.csv")) == pytest.approx(rows * 5e8)


def test_a_first_report_of_iostat_with_other_writes_is_no_interval(tmp_path):
    """Reads and writes together are as fast as in the second one."""
    names = "Device            r/s     w/s    rkB/s    wkB/s  r_await w_await  %util\n"
    rows = [f"{names}sda 9.00 9.00 {read} {write} 1.00 1.00 50.00\n\n" for read, write in [(5, 95), *[(95, 5)] * 9]]
    assert written(made.read(tmp_path, LINUX + "".join(rows))) == pytest.approx(9 * 5 * 1024)


PAUSES = [(5e8 if s % 80 < 60 else 2e5) for s in range(240)]


def test_no_cause_is_stated_where_nothing_tells_whether_requests_waited(tmp_path, command):
    (tmp_path / "a.csv").write_text(dstat("pcp-dstat 6.0", PAUSES))
    findings = json.loads(command("analyze", "a.csv", "--json").stdout)["findings"]
    assert {fall["cause"] for fall in findings["falls"]} == {"untold"}
    assert findings["busy"] is None
    (tmp_path / "a.csv").write_text(dstat("pcp-dstat 6.0", [5e8] * 60))
    shown = command("analyze", "a.csv").stdout
    assert "nothing tells whether requests waited" in shown
    assert "busy" not in shown


def test_a_drive_that_is_slow_all_the_time_is_not_called_well(tmp_path, command):
    names = "Device     r/s  rkB/s r_await   w/s  wkB/s w_await  f/s f_await aqu-sz %util\n"
    report = names + "sda 0.00 0.00 0.00 42.00 504.00 57.93 12.00 88.75 5.88 63.60\n\n"
    (tmp_path / "a.txt").write_text(LINUX + report.replace("504.00", "9504.00") + report * 20)
    shown = " ".join(command("analyze", "a.txt").stdout.split())
    assert "No fall stands out, but it was slow: writes of 12.3 kB took 57.9 ms on average." in shown
    assert "A flush is answered in 88.8 ms, slower than a hard disk" in shown
    assert "caused no slowdown" not in shown


@pytest.mark.parametrize(
    ("device", "util", "noted"), [("nvme0n1", 99.8, True), ("sda", 99.8, False), ("nvme0n1", 9.0, False)]
)
def test_a_busy_nvme_drive_is_not_said_to_be_at_its_limit(device, util, noted, tmp_path):
    data = made.read(tmp_path, iostat(stack=(device,)).replace("99.80", f"{util:.2f}"))
    assert ("could do no more" in str(data.of_level("note"))) == noted


FREEBSD = {
    "iostat -x": "                        extended device statistics\n"
    "device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b\n"
    "ada0           0 {count:7.0f}      0.0 {kib:8.1f}     0     1     0     1    1  99\n",
    "gstat -b": "dT: 2.000s  w: 2.000s\n"
    " L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name\n"
    "    1   {count:5.0f}      0      0    0.0  {count:5.0f} {kib:6.0f}    1.2   99.6  ada0\n",
    "gstat -dos": "dT: 2.000s  w: 2.000s\n"
    " L(q)  ops/s    r/s     kB   kBps   ms/r    w/s     kB   kBps   ms/w    d/s     kB   kBps   ms/d    o/s   ms/o"
    "   %busy Name\n    0 0 0 0 0 0.0 0 0 0 0.0 0 0 0 0.0 0 0.0 0.0| nvd0\n"
    "    1 {count:.0f} 0 0 0 0.0 {count:.0f} 128 {kib:.0f} 1.2 9 64 7000 0.1 5 4.0   99.6| ada0\n",
    "gstat -Co": "timestamp,name,q-depth,total_ops/s,read/s,read-KiB/s,ms/read,write/s,write-KiB/s,ms/write,other/s,"
    "ms/other,%busy\n2026-03-01 {clock}.000000000,nvd0,0,0,0,0,0.0,0,0,0.0,0,0.0,0.0\n"
    "2026-03-01 {clock}.000000000,ada0,1,{count:.0f},0,0,0.0,{count:.0f},{kib:.0f},1.2,5,4.0,99.6\n",
}


@pytest.mark.parametrize(
    ("program", "seconds"), [("iostat -x", 1), ("gstat -b", 2), ("gstat -dos", 2), ("gstat -Co", 1)]
)
def test_freebsd_counts_a_drive(program, seconds, tmp_path):
    first = [2e6] if program == "iostat -x" else []
    text = "".join(
        FREEBSD[program].format(count=v / 131072, kib=v / 1024, clock=clock(second))
        for second, v in enumerate([*first, *SPEEDS])
    )
    data = made.read(tmp_path, text)
    if "o" in program.partition("-")[2]:
        assert data.load.flushes.sum() == pytest.approx(5 * seconds * len(SPEEDS))
        assert data.load.flush_s.sum() / data.load.flushes.sum() == pytest.approx(0.004)
    assert written(data) == pytest.approx(seconds * made.TOTAL_BYTES, rel=0.005)
    assert data.load.write_s.sum() > 0
    assert data.waits


MAC = (
    "              disk0               disk4       cpu    load average\n"
    "    KB/t  tps  MB/s     KB/t  tps  MB/s  us sy id   1m   5m   15m\n"
)
FREEBSD_PLAIN = (
    "       tty            ada0             nvd0             cpu\n"
    " tin  tout  KB/t  tps  MB/s  KB/t  tps  MB/s  us ni sy in id\n"
)


@pytest.mark.parametrize(
    ("head", "row", "disk"),
    [
        (MAC, "  128.00  400 {:.2f}     0.00    0  0.00  13  6 81  2.14 2.18 2.08\n", "disk0"),
        (FREEBSD_PLAIN, "   0   236  0.00    0  0.00  128.00 400 {:.2f}   3  0  2  0 95\n", "nvd0"),
    ],
)
def test_iostat_of_macos_is_a_load_whose_reads_count_as_writes_aloud(head, row, disk, tmp_path):
    data = made.read(tmp_path, head + row.format(9.0) + row.format(50.0) * 3 + head + row.format(80.0))
    assert data.name == f"{disk} in file.txt"
    assert data.load.write_bytes / 2**20 == pytest.approx([50, 50, 50, 80])
    assert any("counts reads and writes together" in str(warning) for warning in data.of_level("warning"))


def test_rows_of_a_device_that_were_picked_out_of_the_reports_are_reports(tmp_path):
    head = "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util\n"
    row = "sdc               0.00     0.00    0.00  {0}.00     0.00 {0}00.00   200.00     9.00   11.00   1.20  99.00\n"
    data = made.read(tmp_path, head + "".join(row.format(count) for count in (5, 800, 110, 108)))
    assert data.load.write_bytes / 1024 == pytest.approx([80000, 11000, 10800])


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("1ms", "900us", "The drive caused no slowdown."),
        ("412ms", "410ms", "it was slow: writes of 128 kB took 412 ms on average"),
    ],
)
def test_waits_of_zpool_tell_whether_the_drive_was_slow_and_nothing_that_it_was_busy(
    before, after, says, tmp_path, command
):
    head = (
        "              capacity     operations     bandwidth    total_wait     disk_wait\n"
        "pool        alloc   free   read  write   read  write   read  write   read  write\n"
    )
    rows = [("4.10K", "512M", before)] * 13 + [("640", "80M", after)] * 7
    text = "".join(
        f"Fri Nov 20 10:00:{second:02} UTC 2026\ntank  412G  516G  0  {ops}  0  {moved}  -  {wait}  -  700us\n"
        for second, (ops, moved, wait) in enumerate(rows)
    )
    (tmp_path / "out.txt").write_text(f"$ zpool iostat -lTd tank 1\n{head}{text}^C\n")
    shown = " ".join(command.fine("analyze", "out.txt").stdout.split())
    assert says in shown
    assert "busy" not in shown
    assert "latencies are those of total_wait; waits in the disks and in queues were left out" in shown


def test_whole_rates_of_zpool_tell_no_interval_and_a_command_above_is_no_row(tmp_path):
    head = (
        "% sudo zpool iostat 1\n               capacity     operations    bandwidth\n"
        "pool        alloc   free   read  write   read  write\n----------  -----  -----  -----  -----  -----  -----\n"
    )
    rows = "".join(
        f"T           17.2T   103T      0  {ops}K      0   230M\n" for ops in (13.7, 63.5, 59.8, 59.1, 66.4, 61.6)
    )
    data = made.read(tmp_path, head + rows)
    assert data.load.seconds == pytest.approx([1.0] * 5)
    assert "intervals of 1.00 s, as the command says" in data.read_as


@pytest.mark.parametrize("blank", ["", "\t\t"])
def test_a_command_in_brackets_above_iostat_tells_the_interval(blank, tmp_path):
    text = "[root@CentOS ~]# iostat -xdk 2 3\n" + iostat().replace(".00 0.00", ".37 0.00")
    data = made.read(tmp_path, "".join(f"{blank}{line}\n" for line in text.splitlines()))
    assert "intervals of 2.00 s, as the command says" in data.read_as
    assert written(data) == pytest.approx(2 * made.TOTAL_BYTES, rel=0.01)


def test_a_time_in_front_of_the_processors_ends_the_rows_above(tmp_path):
    head = "Device r/s rkB/s w/s wkB/s %util\n"
    cpu = "avg-cpu:  %user   %nice\n           3.09    0.00\n\n"
    text = "".join(f"  08/05/19 07:03:{at} PM\n{cpu}{head}sda 0 0 {at} {1024 * at} 9\n" for at in range(10, 20))
    data = made.read(tmp_path, text)
    assert written(data) == 2**20 * sum(range(10, 20)), "the first report is like the second"


def test_other_pools_are_named(tmp_path):
    head = "              capacity     operations     bandwidth\n\tpool  alloc   free   read  write   read  write\n"
    rows = "\ttank 1M 2M 0 9 0 1M\n\t  sda - - 0 9 0 1M\n\tidle 1M 2M 0 0 0 0\n\tother 1M 2M 0 9 0 2M\n"
    data = made.read(tmp_path, head + rows * 5)
    assert "other moved something, too: --device other takes it" in str(data.of_level("note"))
    assert written(data) == 4 * 2**20


def reports(count):
    """As `iostat -x -t 1` prints them of four devices, of which one writes `MOVED` bytes a second."""
    names = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n"
    rows = "".join(
        f"{name} {5 * busy} 20.00 0.00 0.00 0.10 4.00 {8 * busy} {4096 * busy} 3.00 12.00 1.20 512.00 0.50 2.00\n"
        for name, busy in (("nvme0n1", 1), ("sda", 0), ("sdb", 0), ("sdc", 0))
    )
    times = (f"05/01/26 {at // 3600 % 24:02}:{clock(at % 3600)[3:]}\n" for at in range(count))
    return chain([LINUX], (f"{time}{names}{rows}\n" for time in times))


MOVED = 4096 * 1024


def test_memory_grows_by_the_numbers_of_a_log_and_not_by_its_text(tmp_path):
    peaks, path = [], tmp_path / "day.log"
    for count in (30, 1000, 3000):
        # The first reading imports what it needs.
        path.write_text("".join(reports(count)))
        tracemalloc.start()
        assert written(made.read_file(path, device="nvme0n1")) == MOVED * count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A report has 460 bytes of text and 12 numbers of a device; a load has 15.
    assert peaks[2] - peaks[1] < 2000 * 50 * 8, peaks


def test_a_log_of_more_than_64_mb_is_read_and_its_rows_are_counted(tmp_path, command):
    path = tmp_path / "day.log"
    with path.open("w") as file:
        file.writelines(chain(reports(30), repeat(" " * 990_000 + "\n", 66)))
    assert path.stat().st_size > 65e6
    document = json.loads(command.fine("analyze", "day.log", "--device", "nvme0n1", "--json").stdout)
    assert document["findings"]["written_bytes"] == MOVED * 30


@pytest.mark.long
def test_a_log_of_120_mb_takes_50_mb_more_than_one_of_30(tmp_path):
    run = "import sys; from pslc.base import limits; from pslc.cli import main; sys.argv = ['pslc', 'analyze', "
    peaks = []
    for count in (65_000, 260_000):
        with (tmp_path / "day.log").open("w") as file:
            file.writelines(reports(count))
        code = run + f"'{tmp_path}/day.log', '--device', 'nvme0n1']\ntry: main()\nfinally: print(limits.peak_bytes())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert f"{MOVED * count / 1e9:.0f} GB written" in done.stdout
        peaks.append(int(done.stdout.split()[-1]))
    # 700 bytes an interval: the columns of a load and of a recording, and those of its analysis.
    assert peaks[1] - peaks[0] < 195_000 * 700


@pytest.mark.parametrize(("encoding", "name"), [("utf-16", "sdz"), ("cp1252", "Daten\u00fc")])
def test_a_log_is_read_in_pieces_whatever_its_encoding(encoding, name, tmp_path):
    text = "".join(reports(30)).replace("nvme0n1", name)
    assert written(made.read(tmp_path, text.encode(encoding), device=name)) == MOVED * 30


def test_progress_is_drawn_on_a_terminal_and_wiped_at_the_end(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(gate, "QUIET_S", -1.0)
    monkeypatch.setattr(gate, "LINES_A_DRAWING", 100)
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert written(made.read(tmp_path, "".join(reports(300)), "day.log", device="nvme0n1")) == MOVED * 300
        drawn = stream.getvalue()
        assert ("reading day.log: 0 of 0 MB" in drawn) == stream.isatty()
        assert drawn.rpartition("\x1b[J")[2] == ""
