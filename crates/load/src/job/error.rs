//! What is wrong with a job file: a variant for each fault, with what its sentence is made of.

use pslc_ssd::{faults, Hint};

use super::limits::{MOST_BYTES, MOST_OPTIONS, MOST_SECTIONS, MOST_SLOTS};
use crate::option_fault::OptionFault;

/// What is wrong with a job file, and where. Displayed as `file:line: what`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct JobError {
    /// `file:line`, or the option on the command line.
    pub place: String,
    pub fault: Box<JobFault>,
}

impl JobError {
    /// What programs know this error by, however its sentence is put.
    pub fn code(&self) -> &'static str {
        match &*self.fault {
            JobFault::Option { wrong, .. } | JobFault::Whole { wrong, .. } => wrong.code(),
            JobFault::Value(fault) => fault.code(),
            JobFault::File(fault) => fault.code(),
        }
    }

    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match &*self.fault {
            JobFault::Whole { wrong, as_read: Some((text, read)), .. } if wrong.is_of_target() => {
                format!("fio reads {text} as {read}").into()
            }
            JobFault::Option { wrong, .. } | JobFault::Whole { wrong, .. } => wrong.hint(),
            JobFault::Value(fault) => fault.hint(),
            JobFault::File(fault) => fault.hint(),
        }
    }
}

/// The codes of all errors of jobs.
pub fn codes() -> impl Iterator<Item = &'static str> {
    let types = [FileFault::CODES, ValueFault::CODES, OptionFault::CODES];
    types.into_iter().flatten().copied()
}

/// A fault of a job file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JobFault {
    #[error("{option}: {wrong}")]
    Option { option: String, wrong: OptionFault },
    /// What shows when the whole section is read; `as_read` is a value, and what fio reads of it where that is less.
    #[error("{option}: {wrong}")]
    Whole { option: &'static str, wrong: OptionFault, as_read: Option<(String, String)> },
    #[error(transparent)]
    Value(#[from] ValueFault),
    #[error(transparent)]
    File(#[from] FileFault),
}

/// What to do about a value that cannot be made.
const WRITE_VALUE: &str = "set what is missing in the environment, or write the value";
/// What to do about an option that is not run.
const LEAVE_OUT: &str = "leave it out; docs/fio.md lists what is obeyed";

faults! {
    /// Why the variables and keywords in a value cannot be replaced.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum ValueFault {
        #[error("${{{name}}} is not set")]
        NotSet { name: String } = "job-variable-not-set" => WRITE_VALUE,
        #[error("{keyword} is not known here")]
        UnknownKeyword { keyword: &'static str } = "job-unknown-keyword" => WRITE_VALUE,
        #[error("\"{value}\" is no arithmetic: \"{replaced}\" is not of numbers, + - * / % ^ and brackets")]
        NoArithmetic { value: String, replaced: String } = "job-no-arithmetic" => WRITE_VALUE,
        #[error("\"{value}\" is {number}, below 0")]
        BelowZero { value: String, number: i128 } = "job-below-zero" => WRITE_VALUE,
        #[error("\"{value}\" is no whole number")]
        NotWhole { value: String } = "job-not-whole" => WRITE_VALUE,
    }
}

faults! {
    /// Sections, options and jobs that cannot be as they stand in the file.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum FileFault {
        #[error("{bytes} bytes; at most {MOST_BYTES}")]
        LongFile { bytes: usize } = "job-long-file" => "a job file is a text of a few lines",
        #[error("more than {MOST_SECTIONS} sections")]
        ManySections = "job-many-sections" => "loops=N repeats a job, numjobs=N makes it several times",
        #[error("more than {MOST_OPTIONS} options, those of [global] counted in each section")]
        ManyOptions = "job-many-options" => "give fewer sections, or fewer options in [global]",
        #[error("numjobs times iodepth is {slots} over all jobs; at most {MOST_SLOTS}")]
        ManySlots { slots: u64 } = "job-many-slots"
            => "no drive has more than 65536 requests in each queue; give fewer numjobs",
        #[error("there is no job in it")]
        NoJob = "job-no-job" => "a job is a section, [name], with options such as rw=write",
        #[error("\"[{text}\" is no section")]
        NoSection { text: String } = "job-no-section" => "a section is a name in brackets: [sequential-fill]",
        #[error("{option} stands before any section")]
        BeforeSections { option: String } = "job-before-sections"
            => "begin with [global] or a job's name in brackets",
        /// A line of a file that another one includes: whoever reads the message may not be whoever may read that file.
        #[error("a line of an included file, which is not shown, is neither a section nor an option of fio's")]
        Included = "job-included" => "include job files and parts of them only",
        #[error("wait_for: there is no job {waited} before {job}")]
        NoJobToWaitFor { waited: String, job: String } = "job-no-job-to-wait-for"
            => "the job that is waited for stands first",
        #[error("{job} and {other} are one group, and become steady together")]
        SteadyStates { job: String, other: String } = "job-steady-states"
            => "give both the same steadystate, ss_dur and ss_ramp, or the second new_group",
        #[error("ioengine={engine} is another engine's business: {why}")]
        OtherEngine { engine: String, why: &'static str } = "job-other-engine"
            => "pslc runs reads, writes and trims of a drive: io_uring, libaio, psync and their like",
        #[error("an fio option that pslc does not run: {option}: {why}")]
        NotRun { option: String, why: &'static str } = "job-not-run" => LEAVE_OUT,
        #[error("an fio option that pslc does not run: {option}: it is {whose}")]
        OptionOfEngine { option: String, whose: &'static str } = "job-option-of-engine" => LEAVE_OUT,
        #[error("{option} is an option of the command line")]
        CommandLine { option: String } = "job-command-line"
            => format!("leave it out here; pslc run JOBFILE --{option}"),
        #[error("unknown option {option}")]
        UnknownOption { option: String, near: Option<&'static str> } = "job-unknown-option"
            => match near {
                Some(near) => format!("did you mean {near}? docs/fio.md lists what is obeyed"),
                None => "docs/fio.md lists what is obeyed".into(),
            },
    }
}
