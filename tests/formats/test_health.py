"""What drives say of their life, through smartctl and nvme-cli."""

import json

import pytest

from pslc import PslcError
from tests.formats import made

HEAD = """smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.8.0] (local build)
=== START OF INFORMATION SECTION ===
"""
ATA = (
    HEAD
    + """Device Model:     EXAMPLE SATA SSD 1TB
Sector Size:      512 bytes logical/physical

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
177 Wear_Leveling_Count     0x0013   088   088   000    Pre-fail  Always       -       220
187 Reported_Uncorrect      0x0032   100   100   000    Old_age   Always       -       3
190 Airflow_Temperature_Cel 0x0032   059   045   000    Old_age   Always       -       41 (Min/Max 20/55)
241 Total_LBAs_Written      0x0032   099   099   000    Old_age   Always       -       410000000000
"""
)
NVME = (
    HEAD
    + """Model Number:                       EXAMPLE NVME SSD

SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Temperature:                        41 Celsius
Available Spare:                    100%
Available Spare Threshold:          10%
Percentage Used:                    3%
Data Units Written:                 12,345,678 [6.32 TB]
Media and Data Integrity Errors:    0
Warning  Comp. Temperature Time:    7
"""
)


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


SAS = (
    HEAD
    + """Vendor:               EXAMPLE
Product:              SAS SSD
Transport protocol:   SAS (SPL-4)

=== START OF READ SMART DATA SECTION ===
SMART Health Status: OK

Percentage used endurance indicator: 7%
Current Drive Temperature:     33 C

Error counter log:
           Errors Corrected by           Total   Correction     Gigabytes    Total
               ECC          rereads/    errors   algorithm      processed    uncorrected
           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors
read:          0        0         0         0          0     200000.000           0
write:         0        0         0         0          0     123456.000           2
"""
)


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


NVME_CLI = """Smart Log for NVME device:nvme0 namespace-id:ffffffff
critical_warning\t\t\t: 0
temperature\t\t\t\t: 86 \u00b0F (303 K)
available_spare\t\t\t\t: 100%
percentage_used\t\t\t\t: \x1b[1;33m2%\x1b[0m
Data Units Written\t\t\t: 6,000,000 (3.07 TB)
"""


def test_nvme_cli_in_fahrenheit_and_in_colors(tmp_path):
    values = log(tmp_path, "$ nvme smart-log /dev/nvme0\n" + NVME_CLI)
    assert (values["temperature"], values["percentage_used"], values["data_units_written"]) == (30, 2, 6_000_000)


@pytest.mark.parametrize("text", [NVME_CLI, NVME, ATA], ids=["nvme-cli", "smartctl NVMe", "smartctl ATA"])
def test_logs_of_two_drives_in_a_file_are_refused(text, tmp_path):
    with pytest.raises(PslcError, match="holds several health logs"):
        made.read(tmp_path, text + text)
