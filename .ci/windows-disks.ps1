# Disks that tests may erase, on a Windows Server: tests/windows/test_raw_drive.py.
#
#   PSLC_RAW_DRIVE, PSLC_RAW_SERIAL   a disk of an iSCSI target of this machine, which has a serial number
#   PSLC_PLAIN_DRIVE                  a virtual disk in a file, which has none
#
# The names are appended to the file $env:GITHUB_ENV.
$ErrorActionPreference = 'Stop'
$folder = New-Item -ItemType Directory -Force -Path C:\pslc-disks

Install-WindowsFeature -Name FS-iSCSITarget-Server | Out-Null
# A target serves its own machine only where this says so.
Set-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\iSCSI Target' -Name AllowLoopBack -Type DWord -Value 1
Restart-Service WinTarget
Start-Service MSiSCSI
New-IscsiVirtualDisk -Path "$folder\raw.vhdx" -SizeBytes 1GB | Out-Null
New-IscsiServerTarget -TargetName pslc -InitiatorIds 'IPAddress:127.0.0.1' | Out-Null
Add-IscsiVirtualDiskTargetMapping -TargetName pslc -Path "$folder\raw.vhdx"
New-IscsiTargetPortal -TargetPortalAddress 127.0.0.1 -InitiatorPortalAddress 127.0.0.1 | Out-Null
Get-IscsiTarget | Connect-IscsiTarget -TargetPortalAddress 127.0.0.1 -InitiatorPortalAddress 127.0.0.1 | Out-Null

"create vdisk file=$folder\plain.vhd maximum=64 type=fixed", 'attach vdisk' |
    Set-Content -Encoding ascii "$folder\plain.txt"
diskpart /s "$folder\plain.txt"
if ($LASTEXITCODE -ne 0) { throw 'diskpart made no virtual disk' }

foreach ($try in 1..30) {
    $raw = @(Get-Disk | Where-Object BusType -eq 'iSCSI')
    $plain = @(Get-Disk | Where-Object BusType -eq 'File Backed Virtual' | Where-Object Size -eq 64MB)
    if ($raw -and $plain) { break }
    Start-Sleep -Seconds 1
}
if ($raw.Count -ne 1 -or $plain.Count -ne 1) { throw "not one disk each: $(Get-Disk | Out-String)" }
Get-Disk | Format-Table Number, FriendlyName, SerialNumber, BusType, Size | Out-String
"PSLC_RAW_DRIVE=\\.\PhysicalDrive$($raw[0].Number)",
"PSLC_RAW_SERIAL=$($raw[0].SerialNumber.Trim())",
"PSLC_PLAIN_DRIVE=\\.\PhysicalDrive$($plain[0].Number)" | Add-Content -Encoding utf8 $env:GITHUB_ENV
