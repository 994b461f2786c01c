//! What the options of a job say by themselves, where no drive is at hand: of a recording, or of another program's results.

use super::options::{find, Tier};
use super::values::{block, pattern};
use super::{Data, Draft, Mix, Pattern};

/// As fio takes them; its defaults where they say nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Traits {
    /// None where they do not say; fio reads then.
    pub rw: Option<Pattern>,
    pub direct: bool,
    /// 1 where the engine has one request under way whatever `iodepth` says.
    pub iodepth: u32,
    pub numjobs: u32,
    /// Each write is in the cells before the next is made.
    pub synced: bool,
    /// It begins later than it might, or is a pause first.
    pub delayed: bool,
    /// Bytes of a write; None where there are several sizes.
    pub write_bytes: Option<u32>,
    /// The host, not the drive, decides when requests are made.
    pub paced: bool,
    /// What is written is zeros, or compresses.
    pub compressible: bool,
}

/// The options in their order; what is unknown, or no value of its option, says nothing.
pub fn traits<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>) -> Traits {
    let mut draft = Draft::new(0);
    for (name, value) in options {
        if let Some(Tier::Obey(apply, _) | Tier::Real(apply, _)) = find(name).map(|row| &row.tier) {
            let mut tried = draft.clone();
            if apply(&mut tried, value.trim()).is_ok() {
                draft = tried;
            }
        }
    }
    draft.engine();
    let size = draft.bs.as_deref().unwrap_or("4k").split(',').collect::<Vec<_>>();
    let one_size = draft.bssplit.is_none() && draft.bsrange.is_none();
    let of_writes = size.get(1).filter(|text| !text.is_empty()).unwrap_or(&size[0]);
    let job = &draft.job;
    Traits {
        rw: draft.rw.as_deref().and_then(|text| pattern(text, draft.kb_base).ok()),
        direct: job.direct,
        iodepth: job.iodepth,
        numjobs: job.numjobs,
        synced: job.fsync == 1 || draft.fdatasync == 1 || job.sync.is_some(),
        delayed: job.startdelay.1.max(job.startdelay.0).0 > 0 || job.pause.0 > 0,
        write_bytes: one_size.then(|| block(of_writes, draft.kb_base).ok()).flatten(),
        paced: job.think.time.0 > 0
            || draft.rate.as_deref().is_some_and(|rate| !rate.trim_matches(['0', ',', ' ']).is_empty())
            || [job.rate_iops.read, job.rate_iops.write, job.rate_iops.trim].into_iter().flatten().any(|rate| rate > 0),
        compressible: matches!(job.data, Data::Zeros | Data::Compressible(1..) | Data::Pattern(_)),
    }
}

impl Pattern {
    pub fn writes(&self) -> bool {
        matches!(self.mix, Mix::Write | Mix::ReadWrite | Mix::TrimWrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &[(&str, &str)]) -> Traits {
        traits(options.iter().copied())
    }

    #[test]
    fn words_for_the_same_say_the_same() {
        for direct in ["1", "true", "0x1", ""] {
            assert!(of(&[("direct", direct)]).direct, "{direct:?}");
        }
        for options in [("direct", "false"), ("direct", "0"), ("buffered", "1")] {
            assert!(!of(&[options]).direct, "{options:?}");
        }
        assert!(of(&[("buffered", "0")]).direct);
        // The last one decides.
        assert!(!of(&[("direct", "1"), ("buffered", "1")]).direct);
        assert_eq!(of(&[("blocksize", "1024K")]), of(&[("bs", "1m")]));
        assert_eq!(of(&[("bs", "4k,64k")]).write_bytes, Some(65536));
        assert_eq!(of(&[("bssplit", "4k/50:8k/50")]).write_bytes, None);
        assert_eq!(of(&[("readwrite", "randwrite")]), of(&[("rw", "randwrite")]));
    }

    #[test]
    fn what_asks_for_nothing_is_nothing() {
        let nothing = of(&[
            ("startdelay", "0"),
            ("fsync", "0"),
            ("sync", "none"),
            ("zero_buffers", "0"),
            ("rate", "0"),
            ("no_such", "1"),
        ]);
        assert_eq!(nothing, of(&[]));
        assert!(!nothing.delayed && !nothing.paced && !nothing.synced && !nothing.compressible && nothing.iodepth == 1);
        assert!(of(&[("startdelay", "5s")]).delayed && of(&[("fdatasync", "1")]).synced);
        assert!(
            of(&[("rate", ",10m")]).paced && of(&[("rate_iops", "300")]).paced && of(&[("thinktime", "1ms")]).paced
        );
        // Every hundredth is no wait for each.
        assert!(!of(&[("fsync", "100")]).synced);
        assert_eq!(of(&[("iodepth", "32"), ("ioengine", "psync")]).iodepth, 1);
        assert_eq!(of(&[("iodepth", "32"), ("ioengine", "libaio")]).iodepth, 32);
    }
}
