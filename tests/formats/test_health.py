"""What drives say of their life, through smartctl and nvme-cli."""

import json
import re

import pytest

from pslc import PslcError, formats
from tests.conftest import ROOT
from tests.formats import made

HEAD = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)
=== START OF INFORMATION SECTION ===
"""
ATA = made.example("texts/smartctl_ata.txt")
NVME = made.example("texts/smartctl_nvme.txt")


def log(tmp_path, text):
    (found,) = made.read(tmp_path, text).health
    return found


def test_the_attributes_of_an_ata_drive_tell_wear_and_bytes(tmp_path, command):
    found = log(tmp_path, ATA)
    assert found["percentage_used"] == 12
    assert found["media_errors"] == 3
    assert found["data_units_written"] * 512_000 == pytest.approx(210e12, rel=0.001)
    shown = command("analyze", "file.txt").stdout
    assert "12 % of its life are used and 210 TB were written" in shown.replace("\n", " ").replace(
        "209920 GB", "210 TB"
    )
    assert "EXAMPLE SATA SSD 1TB" in shown
    assert "attributes of an ATA drive, by their names" in shown


def test_brief_attributes_and_statistics_are_read_too(tmp_path):
    brief = "177 Wear_Leveling_Count     PO--C-   088   088   000    -    220\n"
    statistics = "0x01  0x018  6      9000000000  ---  Logical Sectors Written\n0x07  0x008  1              15  ---  Percentage Used Endurance Indicator\n"  # fmt: skip  # noqa: E501
    found = log(tmp_path, HEAD + brief + statistics)
    assert found["percentage_used"] == 15
    assert found["data_units_written"] == 9_000_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NVME.replace("Percentage Used:                    3%", "Percentage Used:                    09%"), "9 % of"),
        ("CrystalDiskInfo 9.1.1 (C) 2008-2023\n Firmware : 1\n", "is of 0 drives"),
        ("512 requests completed in 9.9 ms\nmin/avg/max/mdev = 158.1 us\n", "known format"),
    ],
)
def test_what_is_damaged_is_no_bug(text, says, tmp_path, command):
    (tmp_path / "file.txt").write_text(text)
    done = command("analyze", "file.txt")
    assert says in f"{done.stdout}{done.stderr}".replace("\n", " ")
    assert "a bug in pslc" not in done.stderr


@pytest.mark.parametrize(
    ("name", "raw", "written"),
    [
        ("Host_Writes_32MiB", 1000, 1000 * 32 * 2**20),
        ("Lifetime_Writes_GiB", 70, 70 * 2**30),
        ("Unknown_Attribute", 70, None),
    ],
)
def test_the_unit_of_bytes_written_is_that_of_the_name(name, raw, written, tmp_path):
    row = f"241 {name}      0x0032   099   099   000    Old_age   Always       -       {raw}\n"
    found = log(tmp_path, ATA.rpartition("241")[0] + row)
    assert found.get("data_units_written") == (None if written is None else round(written / 512_000))


def test_a_drive_that_says_failed_is_never_called_worn(tmp_path, command):
    worn = ATA.replace("   088   088", "   002   002")
    log(tmp_path, worn)
    assert "It is worn: 98 % of its life" in command("analyze", "file.txt").stdout
    log(tmp_path, worn.replace("PASSED", "FAILED!"))
    shown = command("analyze", "file.txt").stdout
    assert "The drive reports that it FAILED" in shown
    assert "worn" not in shown


def test_the_text_of_smartctl_tells_nvmes_log(tmp_path):
    found = log(tmp_path, NVME)
    assert (found["percentage_used"], found["data_units_written"], found["temperature"]) == (3, 12_345_678, 41)
    assert (found["available_spare"], found["available_spare_threshold"], found["warning_temp_time"]) == (100, 10, 7)


def test_the_json_of_smartctl_tells_an_ata_drive(tmp_path):
    document = {
        "smartctl": {"version": [7, 4]}, "model_name": "EXAMPLE", "smart_status": {"passed": True},
        "ata_smart_attributes": {"table": [
            {"id": 177, "name": "Wear_Leveling_Count", "value": 12, "raw": {"value": 1800}},
            {"id": 241, "name": "Total_LBAs_Written", "value": 99, "raw": {"value": 410_000_000_000}},
        ]},
        "temperature": {"current": 41}, "power_on_time": {"hours": 900},
    }  # fmt: skip
    found = log(tmp_path, json.dumps(document))
    assert (found["percentage_used"], found["temperature"], found["power_on_hours"]) == (88, 41, 900)
    document["endurance_used"] = {"current_percent": 5}
    document["smart_status"] = {"passed": False}
    found = log(tmp_path, json.dumps(document))
    assert (found["percentage_used"], found["critical_warning"]) == (5, 4)


def test_what_tells_nothing_of_wear_is_refused(tmp_path):
    with pytest.raises(PslcError, match="tells nothing of wear"):
        made.read(tmp_path, ATA.partition("SMART overall")[0])


def test_nvme_cli_behind_the_words_of_a_script(tmp_path):
    text = "+ nvme smart-log /dev/nvme0\nSmart Log for NVME device:nvme0 namespace-id:ffffffff\n"
    text += "critical_warning\t\t\t: 0\npercentage_used\t\t\t: 3%\nData Units Written\t\t: 12,345\n"
    found = log(tmp_path, text)
    assert (found["percentage_used"], found["data_units_written"]) == (3, 12345)


SAS = made.example("texts/smartctl_sas.txt")


def test_a_sas_drive_counts_its_writes_and_errors(tmp_path):
    values = log(tmp_path, SAS)
    assert values["data_units_written"] * 512_000 == pytest.approx(123.456e12, rel=1e-6)
    assert (values["percentage_used"], values["media_errors"], values["critical_warning"]) == (7, 2, 0)
    assert made.read(tmp_path, SAS).read_as == "smartctl: what a SCSI drive counts"
    document = {
        "device": {"protocol": "SCSI"},
        "smart_status": {"passed": False},
        "scsi_percentage_used_endurance_indicator": 7,
        "scsi_error_counter_log": {"write": {"gigabytes_processed": "123456.000", "total_uncorrected_errors": 2}},
    }
    of_json = log(tmp_path, json.dumps(document))
    assert of_json["data_units_written"] == values["data_units_written"]
    assert of_json["critical_warning"] == 4


def test_a_list_of_drives_or_a_drive_without_answer_is_no_health(tmp_path):
    for document in ({"smartctl": {"argv": ["smartctl", "--scan"]}, "devices": []}, {"smartctl": {"exit_status": 2}}):
        with pytest.raises(PslcError, match="tells nothing of wear"):
            made.read(tmp_path, json.dumps(document))


NVME_CLI = made.example("texts/nvme_cli.txt")


def test_nvme_cli_in_fahrenheit_and_in_colors(tmp_path):
    values = log(tmp_path, "$ nvme smart-log /dev/nvme0\n" + NVME_CLI)
    assert (values["temperature"], values["percentage_used"], values["data_units_written"]) == (30, 2, 6_000_000)


@pytest.mark.parametrize("text", [NVME_CLI, NVME, ATA], ids=["nvme-cli", "smartctl NVMe", "smartctl ATA"])
def test_logs_of_two_drives_in_a_file_are_refused(text, tmp_path):
    with pytest.raises(PslcError, match="holds several health logs"):
        made.read(tmp_path, text + text)


def nvme(device, used, written, hours, warning=0):
    return (
        f"Smart Log for NVME device:{device} namespace-id:ffffffff\ncritical_warning : {warning:#x}\n"
        f"available_spare : 100%\npercentage_used : {used}%\ndata_units_written : {written}\n"
        f"power_on_hours : {hours}\nmedia_errors : 0\n"
    )


def smartctl(serial, written, day):
    text = f"Serial Number:    {serial}\nLocal Time is:    Mon May {day:2} 10:00:00 2026 UTC\nSector Size:"
    rows = f"Logical Sectors Written\n0x01  0x018  6      {written}  ---  Logical Sectors Written\n"
    return ATA.replace("Sector Size:", text) + f"0x01  0x018  6      {written}  ---  {rows}"


@pytest.mark.parametrize("order", [1, -1])
def test_each_drive_has_its_own_answer_and_the_worst_comes_first(order, tmp_path, command):
    (tmp_path / "new.txt").write_text(nvme("nvme1n1", 2, 21_000_000, 1000))
    (tmp_path / "old.txt").write_text(nvme("nvme0n1", 112, 1_900_000_000, 39_000, warning=4))
    done = command.fine("analyze", *["new.txt", "old.txt"][::order]).stdout
    first, _, second = done.partition("watch on nvme1n1")
    assert first.startswith("watch on nvme0n1")
    assert "FAILED" in first
    assert "2 % of its life are used and 10.8 TB were written" in second
    assert "rose" not in done
    documents = json.loads(command.fine("analyze", "new.txt", "old.txt", "--json").stdout)
    assert [each["drive"] for each in documents] == ["nvme0n1", "nvme1n1"]
    assert documents[1]["findings"]["written_bytes"] is None, "nothing was watched"


@pytest.mark.parametrize("order", [1, -1])
def test_two_logs_of_a_drive_tell_what_lies_between_them(order, tmp_path, command):
    (tmp_path / "after.txt").write_text(nvme("nvme0n1", 5, 61_000_000, 1900))
    (tmp_path / "before.txt").write_text(nvme("nvme0n1", 2, 21_000_000, 1000))
    shown = " ".join(command.fine("analyze", *["after.txt", "before.txt"][::order]).stdout.split())
    assert "the logs, 37.5 days apart, 20.5 TB were written, 546 GB a day, and its wear rose from 2 to 5 %." in shown
    assert "At this load it lasts 3.0 more years" in shown
    rows = {
        row["name"]: row["values"]
        for row in json.loads(command.fine("compare", "before.txt", "after.txt", "--json").stdout)["figures"]
    }
    assert rows["share_used"] == pytest.approx([0.02, 0.05])
    assert rows["drive_written_bytes"] == [21_000_000 * 512_000, 61_000_000 * 512_000]
    assert not [name for name in rows if name in ("watched_s", "read_bytes", "written_bytes", "longest_pause_s")]


def test_logs_belong_to_the_drive_of_their_serial_number_in_the_order_of_their_clock(tmp_path, command):
    for name, text in {
        "a.txt": smartctl("S1", 9_000_000_000, 11),
        "b.txt": smartctl("S1", 8_000_000_000, 4),
        "c.txt": smartctl("S2", 7_000_000_000, 4),
    }.items():
        (tmp_path / name).write_text(text)
    documents = json.loads(command.fine("analyze", "a.txt", "b.txt", "c.txt", "--json").stdout)
    assert [each["findings"]["logs_apart_s"] for each in documents] == [7 * 86_400, None]
    assert [each["drive"].rpartition(", ")[2] for each in documents] == ["S1", "S2"]
    (tmp_path / "a.txt").write_text(smartctl("S1", 7_000_000_000, 11))
    refused = command.refused("analyze", "a.txt", "b.txt").stderr
    assert "b.txt and a.txt cannot be logs of one drive: data units written fall from 8000000 to 7000000" in refused


def test_a_load_takes_no_health_of_another_drive(tmp_path, command):
    for drive, code in (("nvme0n1", 0), ("nvme7n1", 2)):
        (tmp_path / "health.txt").write_text(nvme(drive, 2, 21_000_000, 1000))
        done = command("analyze", ROOT / "examples" / "slow-night.txt", "health.txt")
        assert done.returncode == code, done.stderr
    assert "are of two drives" in done.stderr


def test_json_is_read_as_it_is_copied_from_a_terminal(tmp_path):
    document = json.dumps({"critical_warning": 0, "percent_used": 3, "power_on_hours": 9}, indent=1)
    values = log(tmp_path, f"me@box:~$ sudo nvme smart-log -o json /dev/nvme0\n{document}\nme@box:~$ \n")
    assert (values["percentage_used"], values["power_on_hours"]) == (3, 9)


def test_lines_that_look_like_many_prompts_are_searched_once():
    whole = "10% done # 20% left > 30% to go\n" * 5000
    assert formats.decoded(whole.encode()) == whole


@pytest.mark.parametrize("prompt", ["me@box:~$ ", "[root@box ~]# ", "C:\\> "])
def test_a_document_below_a_command_is_read(prompt, tmp_path):
    document = json.dumps({"critical_warning": 0, "percent_used": 3, "power_on_hours": 9}, indent=1)
    assert log(tmp_path, f"{prompt}nvme smart-log -o json\n{document}\n")["percentage_used"] == 3


@pytest.mark.parametrize("blank", [" ", ",", "\u202f", "\xa0", "\ufffd", ""])
def test_thousands_are_set_apart_in_many_ways(blank, tmp_path):
    for text in (NVME, NVME_CLI):
        units = re.sub(r"(Data Units Written\s*:\s*)[\d,]+", rf"\g<1>12{blank}345{blank}678", text)
        assert log(tmp_path, units)["data_units_written"] == 12_345_678


def test_numbers_written_as_floats_are_numbers(tmp_path):
    log_of = {"critical_warning": 0, "avail_spare": 100.0, "percent_used": 3.0, "data_units_written": 150157123.0,
              "power_on_hours": 4980.0, "temperature": 311.0}  # fmt: skip
    values = log(tmp_path, json.dumps(log_of))
    assert [values[name] for name in ("percentage_used", "data_units_written", "temperature")] == [3, 150157123, 38]


def test_the_unit_of_a_drive_that_smartctl_does_not_know_is_not_guessed(tmp_path, command):
    unknown = ATA.replace("Sector Size:", "Device is:        Not in smartctl database 7.3/5625\nSector Size:")
    assert "data_units_written" not in log(tmp_path, unknown)
    shown = " ".join(command("analyze", "file.txt").stdout.split())
    assert "the unit of its writes is not known: 410000000000 are" in shown
    assert "were written." not in shown
    counted = "0x01  0x018  6      9000000000  ---  Logical Sectors Written\n"
    assert log(tmp_path, unknown + counted)["data_units_written"] == 9_000_000


@pytest.mark.parametrize(
    ("rows", "waf"),
    [
        (
            [(246, "Total_LBAs_Written", 24_000_000_000), (247, "Host_Program_Page_Count", 4),
             (248, "FTL_Program_Page_Count", 28)],
            8,
        ),
        ([(241, "Host_Writes_32MiB", 1000), (245, "TLC_Writes_32MiB", 2500)], 2.5),
        ([(241, "Total_Writes_GiB", 1000), (233, "NAND_GB_Written_TLC", 2147)], 2),
        (
            [(233, "NAND_GB_Written_TLC", 7420), (234, "NAND_GB_Written_SLC", 11830), (241, "Host_Writes_GiB", 6904)],
            2.6,
        ),
        ([(233, "Flash_Writes_GiB", 1886), (241, "Lifetime_Writes_GiB", 7389)], 0.255),
        ([(241, "Host_Writes_GiB", 100), (175, "Program_Fail_Count_Chip", 3), (1, "Write_Error_Rate", 9)], None),
    ],
)  # fmt: skip
def test_the_table_of_smartctl_tells_what_the_cells_took(rows, waf, tmp_path, command):
    text = "".join(f"{number:3} {name:24} 0x0032   099   099   000    Old_age   Always       -       {raw}\n"
                   for number, name, raw in rows)  # fmt: skip
    values = log(tmp_path, ATA.rpartition("241")[0] + text)
    programmed = values.get("nand_units_written")
    assert (programmed and programmed / values["data_units_written"]) == (waf and pytest.approx(waf, rel=0.01))
    shown = " ".join(command("analyze", "file.txt").stdout.split())
    assert ("write amplification" in shown) == (waf is not None and waf > 1)
    assert ("less than was written: it compresses" in shown) == (waf is not None and waf < 1)
    assert ("small or flushed writes" in shown) == (waf == 8)


@pytest.mark.parametrize(
    ("place", "erases", "units"),
    [("Not in", "", "33.5 TB in units of 32 MiB, 1072 TB in units of 1 GiB"),
     ("Not in", "120", "33.5 TB in units of 32 MiB"), ("Not in", "3", "no bytes"),
     ("In", "", "33.5 TB in units of 32 MiB, 1072 TB in units of 1 GiB")],
)  # fmt: skip
def test_units_that_a_drive_s_hours_and_erases_exclude_are_left_out(place, erases, units, tmp_path, command):
    hours = "  9 Power_On_Hours          0x0032   100   100   000    Old_age   Always       -       9000\n"
    row = "241 Total_LBAs_Written      0x0032   099   099   000    Old_age   Always       -       998347\n"
    if erases:
        row += f"167 Average_Erase_Count     0x0032   100   100   000    Old_age   Always       -       {erases}\n"
    size = "User Capacity:    1,000,204,886,016 bytes [1.00 TB]\n"
    log(
        tmp_path,
        ATA.rpartition("241")[0].replace(
            "Sector Size:", f"Device is:        {place} smartctl database\n{size}Sector Size:"
        )
        + hours
        + row,
    )
    shown = " ".join(command("analyze", "file.txt").stdout.split())
    assert shown.endswith(f"998347 are {units}")


@pytest.mark.parametrize(
    "text",
    [
        NVME + "Temperature Sensor 1:               41 Celsius\nTemperature Sensor 2:               90 Celsius\n",
        NVME_CLI + "Temperature Sensor 1  : 41 \u00b0C (314 K)\nTemperature Sensor 2  : 90 \u00b0C (363 K)\n",
        json.dumps({"critical_warning": 0, "power_on_hours": 9, "temperature": 314, "temperature_sensor_2": 363}),
        json.dumps({"smartctl": {}, "nvme_smart_health_information_log": {
            "critical_warning": 0, "percentage_used": 1, "temperature": 41, "temperature_sensors": [41, 90]}}),
    ],
    ids=["smartctl", "nvme-cli", "nvme-cli JSON", "smartctl JSON"],
)  # fmt: skip
def test_a_hot_sensor_beside_a_cool_drive_is_said(text, tmp_path, command):
    assert log(tmp_path, text)["hottest_sensor"] == 90
    assert "A sensor of it is at 90 C" in " ".join(command("analyze", "file.txt").stdout.split())


CDI = made.example("texts/crystal_disk_info.txt")


def test_crystal_disk_info_tells_one_drive_of_several(tmp_path):
    values = log(tmp_path, CDI)
    assert [values[name] for name in ("percentage_used", "power_on_hours", "temperature")] == [3, 4980, 41]
    assert values["data_units_written"] * 512_000 == pytest.approx(71604 * 2**30, rel=1e-5)
    two = CDI + CDI.partition("----\n")[2].replace("NVME", "SATA").replace("Good (97", "Bad (3").replace(
        "71604 GB", "70 TB"
    )
    with pytest.raises(PslcError, match="is of 2 drives: EXAMPLE NVME 1TB, EXAMPLE SATA 1TB"):
        made.read(tmp_path, two)
    (values,) = made.read(tmp_path, two, device="sata").health
    assert (values["percentage_used"], values["critical_warning"]) == (97, 4)
    assert values["data_units_written"] == round(70 * 2**40 / 512_000)


@pytest.mark.parametrize(
    ("row", "used"),
    [
        ("230 Media_Wearout_Indicator 0x0032   001   001   ---    Old_age   Always       -       0x001a0014001a", 1),
        ("233 Media_Wearout_Indicator 0x0032   098   098   000    Old_age   Always       -       0", 2),
        ("231 SSD_Life_Left           0x0000   100   100   000    Old_age   Offline      -       74", 26),
        ("169 Remaining_Lifetime_Perc 0x0000   100   100   000    Old_age   Offline      -       96", 4),
        ("202 Percent_Lifetime_Remain 0x0030   098   098   001    Old_age   Offline      -       2", 2),
        ("202 Percent_Lifetime_Remain 0x0030   100   100   001    Old_age   Offline      -       0", 0),
    ],
)
@pytest.mark.parametrize("above", [ATA.rpartition("177 ")[0], "Device Model:     EXAMPLE SATA SSD 1TB\n"])
def test_the_share_of_life_is_where_each_maker_counts_it(above, row, used, tmp_path):
    assert log(tmp_path, f"{above}{row}\n")["percentage_used"] == used


def attributes(*rows, capacity="1,000,204,886,016 bytes [1.00 TB]"):
    """The text of a drive with attributes of a number, a name, a normalized value and a raw one."""
    table = "".join(f"{number:3} {name:23} 0x0032   {value}   {value}   000    Old_age   Always       -       {raw}\n"
                    for number, name, value, raw in rows)  # fmt: skip
    return f"{HEAD}Device Model:     EXAMPLE\nUser Capacity:    {capacity}\n\n{table}"


WORN_BY_ERASES = (167, "Average_Erase_Count", "100", 900)


@pytest.mark.parametrize(
    ("row", "used"),
    [
        ((230, "Media_Wearout_Indicator", "002", "0x002200020022"), 2),
        ((233, "Media_Wearout_Indicator", "098", 0), 2),
        ((231, "SSD_Life_Left", "095", 95), 5),
        ((231, "SSD_Life_Left", "000", 0), 100),
        ((169, "Remaining_Lifetime_Perc", "000", 0), 100),
        ((169, "Remaining_Lifetime_Perc", "000", 93), 7),
        ((169, "Lifetime_Remaining%", "100", 93), 7),
        ((202, "Percent_Lifetime_Remain", "075", 25), 25),
        ((202, "Perc_Rated_Life_Used", "075", 25), 25),
        ((173, "Drive_Life_Used%", "100", 25), 25),
        ((248, "SSD_Remaining_Life_Perc", "075", 75), 25),
        ((177, "Wear_Leveling_Count", "---", 40), None),
        ((177, "Wear_Leveling_Count", "000", 900), 100),
        ((230, "Media_Wearout_Indicator", "100", "0x2f2423142f24"), None),
        ((232, "Available_Reservd_Space", "050", 50), None),
        ((169, "Bad_Block_Count", "100", 20), None),
        ((177, "Wear_Range_Delta", "000", 0), None),
    ],
)  # fmt: skip
def test_each_family_s_wear_counts_its_own_way_and_zero_is_a_value(row, used, tmp_path):
    values = log(tmp_path, attributes((9, "Power_On_Hours", "100", 20_000), (187, "Reported_Uncorrect", "100", 0),
                                      WORN_BY_ERASES, row))  # fmt: skip
    assert values.get("percentage_used") == used
    number, name, value, raw = row
    if used is not None and isinstance(raw, int):
        table = [{"id": number, "name": name, "value": int(value), "raw": {"value": raw}}]
        document = {"smartctl": {}, "ata_smart_attributes": {"table": table}}
        assert log(tmp_path, json.dumps(document))["percentage_used"] == used


@pytest.mark.parametrize(
    ("row", "used"),
    [
        ((177, "Wear_Leveling_Count", "000", 0), None), ((233, "Media_Wearout_Indicator", "000", 286), None),
        ((231, "SSD_Life_Left", "000", 0), 100), ((231, "SSD_Life_Left", "000", 1), None),
    ],
)  # fmt: skip
def test_a_drive_that_leaves_values_out_as_zero_is_not_worn_by_one_of_them(row, used, tmp_path):
    other = (181, "Program_Fail_Cnt_Total", "000", 0)
    hours = (9, "Power_On_Hours", "100", 158939559756050)
    values = log(tmp_path, attributes(hours, other, row, (187, "Reported_Uncorrect", "100", 0), WORN_BY_ERASES))
    assert values.get("percentage_used") == used
    assert values["power_on_hours"] == 274, "milliseconds in the upper half"


WRITTEN = (241, "Host_Writes_GiB", "100", 7000)
OLD = (9, "Power_On_Hours", "100", 9000)
LIFE = (231, "SSD_Life_Left", "001", 1)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ((OLD, (173, "Average_PE_Cycles_TLC", "100", 7), LIFE), "its blocks were erased 7 times on average"),
        ((OLD, (244, "Average_Erase_Count", "100", 0), (231, "SSD_Life_Left", "000", 0)), "erased 0 times on average"),
        ((OLD, LIFE, WRITTEN), "7516 GB were written to 1000 GB"),
        (((9, "Power_On_Hours", "100", 2), LIFE), "it has run for 2 h"),
        ((OLD, LIFE), ""),
        ((OLD, WORN_BY_ERASES, LIFE, (*WRITTEN[:3], 90_000)), ""),
        ((OLD, (173, "Average_PE_Cycles_TLC", "100", 7), (231, "SSD_Life_Left", "090", 90)), ""),
    ],
)
def test_a_wear_that_hours_erases_or_bytes_contradict_replaces_no_drive(rows, why, tmp_path, command):
    values = log(tmp_path, attributes(*rows))
    shown = " ".join(command.fine("analyze", "file.txt").stdout.split())
    assert why in shown
    assert ("percentage_used" in values) == ("It is worn: 99 %" in shown or "10 % of its life" in shown) == (not why)
    assert ("no reason to replace the drive" in shown) == bool(why)
    assert ("of its life are used, or" in shown) == bool(why)


def test_an_attribute_that_nothing_contradicts_tells_the_wear_beside_one_that_is_wrong(tmp_path):
    rows = (OLD, (173, "Average_PE_Cycles_TLC", "100", 7), LIFE, (233, "Media_Wearout_Indicator", "099", 0))
    data = made.read(tmp_path, attributes(*rows))
    assert data.health[0]["percentage_used"] == 1
    assert "SSD_Life_Left says that 99 % of its life are used, or 1 %" in str(data.of_level("warning")[0])
