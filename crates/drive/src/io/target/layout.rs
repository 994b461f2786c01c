//! A new file is written once before it is measured on, where the system would write zeros in front of a write.

use pslc_load::job::{self, Ground, Job, Mix};
use pslc_load::{run, Progress, TargetError};

use super::RealTarget;
use crate::sys;

/// Bytes of a request by which a file is laid out.
const LAYOUT_BYTES: u64 = 1 << 20;

impl RealTarget {
    /// Write what of the file holds nothing yet, past the cache where that can be had, and tell the drive to forget it where
    /// the system can: then it is as after an allocation, but for what has become of the drive.
    pub(super) fn lay_out(&mut self, goes_on: &mut dyn FnMut(&Progress) -> bool) -> Option<TargetError> {
        let direct = self.direct.is_some() as u8;
        let (moved, written) = (self.counters.moved, self.written.clone());
        for (start, bytes) in self.written.holes(0, self.capacity) {
            let whole = bytes / LAYOUT_BYTES * LAYOUT_BYTES;
            for (bs, offset, size) in [(LAYOUT_BYTES, start, whole), (bytes - whole, start + whole, bytes - whole)] {
                if size > 0 {
                    let text = format!(
                        "[layout]\nrw=write\nbs={bs}\ndirect={direct}\nend_fsync=1\noffset={offset}\nsize={size}\n"
                    );
                    let jobs = job::parse("layout", &text, &[], Ground::Real, self.capacity, &|_| None);
                    let look = &mut |progress: &Progress| goes_on(progress);
                    let recording = run(self, &jobs.expect("our own words"), 0, look);
                    if recording.error.is_some() {
                        return recording.error;
                    }
                }
            }
            // SAFETY: the file stays open.
            let file = unsafe { sys::borrowed(sys::raw(&self.buffered)) };
            // Where it cannot be told, the drive keeps what was written.
            let _ = sys::trim(file, start, bytes);
            self.laid_out += bytes;
        }
        (self.written, self.counters.moved) = (written, moved);
        None
    }
}

/// Whether all that happens is that one request after the other follows the one before it from the beginning of the file,
/// with as many under way at once as the system makes in their order: then nothing lies in front of a write, and none waits
/// for another that does.
pub(super) fn extends(jobs: &[Job], in_order: u32) -> bool {
    let [job] = jobs else { return false };
    let rw = &job.rw;
    let is_plain = rw.mix == Mix::Write && !rw.random && rw.hole == 0 && job.strided.is_none();
    is_plain && job.numjobs == 1 && job.iodepth <= in_order && job.extent(0).start == 0
}

#[cfg(test)]
mod tests {
    use pslc_load::Target;
    use pslc_ssd::Op;

    use super::*;
    use crate::guard::open_scratch;

    const BYTES: u64 = 3 * LAYOUT_BYTES + 8192;

    fn target(name: &str) -> RealTarget {
        let path = std::env::temp_dir().join(format!("pslc-{name}-{}", std::process::id()));
        open_scratch(&path, BYTES).unwrap_or_else(|error| panic!("{error}")).with_layout(1)
    }

    fn jobs(text: &str) -> Vec<Job> {
        job::parse("t", text, &[], Ground::Real, BYTES, &|_| None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Blocks of a file in which there is any data.
    fn blocks_with_data(target: &RealTarget) -> u64 {
        // SAFETY: the file stays open.
        let file = unsafe { sys::borrowed(sys::raw(&target.buffered)) };
        let mut block = [0; 4096];
        (0..BYTES / 4096)
            .filter(|at| {
                sys::pread(file, &mut block, at * 4096).expect("it is there");
                block.iter().any(|&byte| byte != 0)
            })
            .count() as u64
    }

    #[test]
    fn a_file_is_laid_out_before_it_is_measured_on() {
        let mut target = target("laid-out");
        // Where a trim is made, it takes what was laid out away again; the last block is none of the job's.
        let text = "[w]\nrw=randwrite\nbs=4k\nsize=64k\nioengine=libaio\niodepth=4\n";
        let mut shown = 0;
        let recording = run(&mut target, &jobs(text), 1, &mut |progress: &Progress| {
            shown = shown.max(progress.total_bytes);
            true
        });
        assert!(recording.error.is_none(), "{:?}", recording.error);
        assert_eq!(target.laid_out_bytes(), BYTES);
        assert!(!target.is_to_be_laid_out && shown >= 3 * LAYOUT_BYTES, "{shown} bytes of layout were shown");
        // It is none of what was measured, nor may it be read.
        assert_eq!((recording.stats[0].kinds[1].count, target.counters.moved[Op::Write as usize]), (16, 65536));
        assert_eq!(target.unwritten(0, BYTES), [(65536, BYTES - 65536)]);
        let with_data = blocks_with_data(&target);
        // SAFETY: the file stays open.
        let file = unsafe { sys::borrowed(sys::raw(&target.buffered)) };
        match sys::trim(file, BYTES - 4096, 4096) {
            // What a drive gives back of what it was told to forget is its own affair; Linux makes a hole of it.
            Ok(()) => assert!(with_data == 16 || (cfg!(windows) && with_data >= 16), "{with_data}"),
            Err(_) => assert_eq!(with_data, BYTES / 4096),
        }
    }

    #[test]
    fn what_was_written_before_a_layout_stays_and_can_be_read() {
        let mut target = target("goes-on");
        let first = jobs("[w]\nrw=write\nbs=64k\nsize=1m\n");
        assert!(run(&mut target, &first, 1, &mut |_: &Progress| true).error.is_none());
        let again = jobs("[r]\nrw=randread\nbs=64k\nsize=1m\n[w]\nrw=randwrite\nbs=4k\noffset=2m\nio_size=64k\n");
        assert!(run(&mut target, &again, 1, &mut |_: &Progress| true).error.is_none());
        assert_eq!(target.laid_out_bytes(), BYTES - (1 << 20));
    }

    #[test]
    fn one_sequential_writer_from_the_beginning_needs_no_layout() {
        let mut target = target("extends");
        let list = jobs("[w]\nrw=write\nbs=64k\nsize=1m\n");
        assert!(run(&mut target, &list, 1, &mut |_: &Progress| true).error.is_none());
        assert!(target.is_to_be_laid_out, "the next job may need it");
        for text in [
            "[w]\nrw=write\nbs=64k\noffset=64k\n",
            "[w]\nrw=write\nbs=64k\nioengine=libaio\niodepth=2\n",
            "[w]\nrw=write\nbs=64k\nnumjobs=2\n",
            "[w]\nrw=randwrite\nbs=64k\n",
            "[w]\nrw=rw\nbs=64k\n",
        ] {
            assert!(!extends(&jobs(text), 1), "{text}");
            assert_eq!(extends(&jobs(text), u32::MAX), text.contains("iodepth"), "{text}");
        }
    }

    #[test]
    fn a_stop_during_the_layout_ends_the_run() {
        let mut target = target("stopped");
        let text = "[w]\nrw=randwrite\nbs=4k\nthinktime=1h\n";
        let recording = run(&mut target, &jobs(text), 1, &mut |_: &Progress| false);
        assert!(recording.interrupted && recording.error.is_none());
        assert!(recording.stats[0].kinds[1].count <= 1);
    }
}
