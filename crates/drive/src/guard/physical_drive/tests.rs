use super::*;
use crate::storage::descriptor::Partition;

const PATH: &str = r"\\.\PhysicalDrive1";
const SERIAL: &str = "S4EWNX0N123456";

fn partition(kind: PartitionKind) -> Partition {
    Partition { number: 1, start_bytes: 1 << 20, bytes: 500 << 30, kind }
}

fn volume(name: &str, drives: Option<&[u32]>) -> VolumeDrives {
    VolumeDrives { name: name.into(), drives: drives.map(<[u32]>::to_vec) }
}

/// A new drive beside that of the system.
fn new_drive() -> Facts {
    Facts {
        number: Some(1),
        serial: Some(SERIAL.into()),
        bytes: Some(1_000_204_886_016),
        block: Some(512),
        removable: Some(false),
        attributes: Some(Attributes::default()),
        layout: Some(Layout { table: None, partitions: Vec::new() }),
        volumes: Some(vec![volume(r"C:\", Some(&[0])), volume(r"E:\", Some(&[]))]),
        of_system: Some(vec![0]),
    }
}

fn verdict(facts: &Facts, wipe_signatures: bool, data: &[&str]) -> Result<Approved, OpenError> {
    let data = data.iter().map(|sentence| sentence.to_string()).collect();
    judge(facts, Path::new(PATH), SERIAL, wipe_signatures, |_| Ok(data))
}

/// Why a drive is refused, which has a hint and says that nothing was written.
fn refused(facts: &Facts) -> (&'static str, String) {
    let error = verdict(facts, true, &[]).expect_err("it must be refused");
    assert!(!error.hint().is_empty(), "{error}");
    (error.code(), error.to_string())
}

#[test]
fn a_new_drive_whose_serial_number_was_given_may_be_erased() {
    let drive = verdict(&new_drive(), false, &[]).unwrap();
    let bytes = 1_000_204_886_016;
    assert_eq!(drive, Approved { number: 1, serial: SERIAL.into(), bytes, block: 512 });
    let uneven = Facts { bytes: Some(bytes + 700), block: Some(4096), ..new_drive() };
    assert_eq!(verdict(&uneven, false, &[]).unwrap().bytes % 4096, 0);
}

type Forget = fn(&mut Facts);

#[test]
fn what_the_system_does_not_tell_is_refused() {
    let unknown: [(&str, Forget); 9] = [
        ("its number", |of| of.number = None),
        ("its size", |of| of.bytes = None),
        ("its serial number", |of| of.serial = None),
        ("the size of its blocks", |of| of.block = None),
        ("whether its medium can be taken out", |of| of.removable = None),
        ("whether it is offline or read-only", |of| of.attributes = None),
        ("which partitions it has", |of| of.layout = None),
        ("which volumes there are", |of| of.volumes = None),
        ("on which drive Windows lies", |of| of.of_system = None),
    ];
    for (what, forget) in unknown {
        let mut facts = new_drive();
        forget(&mut facts);
        let (_, error) = refused(&facts);
        assert!(error.contains("the system does not tell") && error.contains(what), "{error}");
    }
    let volumes = Some(vec![volume(r"C:\", Some(&[0])), volume(r"V:\", None)]);
    let (code, error) = refused(&Facts { volumes, ..new_drive() });
    assert_eq!(code, "device-unknown");
    assert!(error.ends_with(r"does not tell on which drive the volume V:\ lies"), "{error}");
    assert_eq!(refused(&Facts { block: Some(513), ..new_drive() }).0, "device-unknown");
}

#[test]
fn each_refusal_has_its_own_words() {
    let layout = |kind| Some(Layout { table: Some(Table::Gpt), partitions: vec![partition(kind)] });
    let attributes = |offline, read_only| Some(Attributes { offline, read_only });
    let other = || layout(PartitionKind::Other("EFI system partition".into()));
    let volumes = Some(vec![volume(r"D:\", Some(&[0, 1]))]);
    for (facts, code, words) in [
        (Facts { bytes: Some(0), ..new_drive() }, "device-no-medium", "has no medium"),
        (Facts { bytes: Some(4095 << 10), ..new_drive() }, "device-too-small", "no drive has so few"),
        (Facts { serial: Some("X".into()), ..new_drive() }, "device-wrong-serial", "is not that of this drive"),
        (Facts { of_system: Some(vec![1, 4]), ..new_drive() }, "device-of-system", "Windows runs from"),
        (Facts { attributes: attributes(true, false), ..new_drive() }, "device-offline", "is offline"),
        (Facts { attributes: attributes(false, true), ..new_drive() }, "device-read-only", "is read-only"),
        (Facts { removable: Some(true), ..new_drive() }, "device-removable", "can be taken out"),
        (Facts { layout: layout(PartitionKind::Pool), ..new_drive() }, "device-in-pool", "Storage Spaces"),
        (Facts { layout: layout(PartitionKind::Dynamic), ..new_drive() }, "device-dynamic", "LDM"),
        (Facts { volumes, layout: other(), ..new_drive() }, "device-has-volumes", "has volumes: D:\\"),
        (
            Facts { layout: other(), ..new_drive() },
            "device-has-partitions",
            "has partitions: partition 1, 536.9 GB (EFI system partition)",
        ),
    ] {
        let (found, error) = refused(&facts);
        assert_eq!(found, code, "{error}");
        assert!(error.starts_with(PATH) && error.contains(words), "{error}");
    }
}

#[test]
fn an_empty_table_and_any_data_need_another_word() {
    let reserved = vec![partition(PartitionKind::Reserved)];
    let gpt = Facts { layout: Some(Layout { table: Some(Table::Gpt), partitions: reserved }), ..new_drive() };
    let mbr = Facts { layout: Some(Layout { table: Some(Table::Mbr), partitions: Vec::new() }), ..new_drive() };
    let places = ["data in its first MiB", "data in its last MiB"];
    for (facts, places, words) in [
        (&gpt, &places[..0], "an empty partition table (GPT)"),
        (&mbr, &places[..0], "an empty partition table (MBR)"),
        (&new_drive(), &places[..], "data in its first MiB; data in its last MiB"),
    ] {
        let error = verdict(facts, false, places).unwrap_err();
        assert_eq!(error.code(), "device-has-signatures");
        assert!(error.to_string().contains(words), "{error}");
        assert!(verdict(facts, true, places).is_ok());
    }
    let unread = judge(&new_drive(), Path::new(PATH), SERIAL, true, |_| Err(io::ErrorKind::Other.into()));
    assert_eq!(unread.unwrap_err().code(), "device-content-unknown");
}

#[test]
fn nothing_is_read_of_a_drive_that_is_another_one_or_in_use() {
    let of_system = Facts { of_system: Some(vec![1]), ..new_drive() };
    for (facts, given) in [(new_drive(), "another"), (of_system, SERIAL)] {
        let read = |_: &Approved| unreachable!("it must not be read");
        judge(&facts, Path::new(PATH), given, true, read).unwrap_err();
    }
}

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// One of them; the first, which harms nothing, mostly.
    fn mostly<T: Clone>(&mut self, of: &[T]) -> T {
        let at = if self.below(10) < 8 { 0 } else { self.below(of.len() as u64) };
        of[at as usize].clone()
    }

    fn facts(&mut self) -> Facts {
        let harmless = new_drive();
        let kinds = [
            PartitionKind::Reserved,
            PartitionKind::Pool,
            PartitionKind::Dynamic,
            PartitionKind::Other("type 0x83".into()),
        ];
        let tables = [None, Some(Table::Mbr), Some(Table::Gpt)];
        let partitions = (0..self.mostly(&[0, 1, 2])).map(|_| partition(self.mostly(&kinds))).collect();
        let layout = Some(Layout { table: self.mostly(&tables), partitions });
        let places = [Some(vec![0]), Some(vec![]), Some(vec![2, 3]), Some(vec![0, 1]), None];
        let volumes = (0..self.below(4)).map(|at| VolumeDrives { name: format!("{at}"), drives: self.mostly(&places) });
        let volumes = Some(volumes.collect());
        let attributes = [(false, false), (true, false), (false, true), (true, true)]
            .map(|(offline, read_only)| Some(Attributes { offline, read_only }));
        Facts {
            number: self.mostly(&[harmless.number, None, Some(7)]),
            serial: self.mostly(&[harmless.serial, None, Some(String::new()), Some("other".into())]),
            bytes: self.mostly(&[harmless.bytes, None, Some(0), Some(1 << 20), Some(1 << 30)]),
            block: self.mostly(&[harmless.block, None, Some(4096), Some(0), Some(1 << 30)]),
            removable: self.mostly(&[Some(false), Some(true), None]),
            attributes: self.mostly(&[attributes.as_slice(), &[None]].concat()),
            layout: self.mostly(&[layout, None]),
            volumes: self.mostly(&[volumes, None]),
            of_system: self.mostly(&[Some(vec![0]), Some(vec![1]), None, Some(vec![7, 1])]),
        }
    }
}

/// The rules once more, as docs/safety.md puts them.
fn may_be_erased(facts: &Facts, wipe_signatures: bool, has_data: bool) -> bool {
    let Some(layout) = &facts.layout else { return false };
    let Some(volumes) = &facts.volumes else { return false };
    let Some(number) = facts.number else { return false };
    let is_this_drive = facts.serial.as_deref() == Some(SERIAL);
    let is_a_drive = facts.bytes.is_some_and(|bytes| bytes >= 4 << 20)
        && facts.block.is_some_and(|block| (1..=1 << 20).contains(&block))
        && facts.removable == Some(false);
    let is_on = facts.attributes == Some(Attributes { offline: false, read_only: false });
    let is_of_system = facts.of_system.as_ref().is_none_or(|drives| drives.contains(&number));
    let has_volumes = volumes.iter().any(|volume| volume.drives.as_ref().is_none_or(|drives| drives.contains(&number)));
    let has_partitions = layout.partitions.iter().any(|of| of.kind != PartitionKind::Reserved);
    let is_empty = layout.table.is_none() && !has_data;
    is_this_drive
        && is_a_drive
        && is_on
        && !is_of_system
        && !has_volumes
        && !has_partitions
        && (is_empty || wipe_signatures)
}

#[test]
fn whatever_the_facts_only_a_drive_that_keeps_every_rule_is_erased() {
    let (mut random, mut erased) = (Random(26), 0);
    for _ in 0..20_000 {
        let facts = random.facts();
        let (wipe, has_data) = (random.below(2) == 0, random.below(4) == 0);
        let places: &[&str] = if has_data { &["in its first MiB"] } else { &[] };
        let verdict = verdict(&facts, wipe, places);
        assert_eq!(verdict.is_ok(), may_be_erased(&facts, wipe, has_data), "{facts:?}: {verdict:?}");
        erased += verdict.is_ok() as u32;
    }
    assert!((500..19_500).contains(&erased), "{erased} of them may be erased");
}
