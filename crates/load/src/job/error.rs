//! What is wrong with a job file: a variant for each fault, with what its sentence is made of.

use pslc_ssd::{codes, Hint};

use super::file::{MOST_BYTES, MOST_OPTIONS, MOST_SECTIONS, MOST_SLOTS};
use super::option_fault::OptionFault;

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
            JobFault::Option { wrong, .. } => wrong.hint().unwrap_or("as in fio's manual".into()),
            JobFault::Whole { wrong, as_read, .. } => wrong.hint().unwrap_or_else(|| match as_read {
                Some((text, read)) => format!("fio reads {text} as {read}").into(),
                None => "the whole target is size=100%".into(),
            }),
            JobFault::Value(_) => "set what is missing in the environment, or write the value".into(),
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

/// Why the variables and keywords in a value cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueFault {
    #[error("${{{name}}} is not set")]
    NotSet { name: String },
    #[error("{keyword} is not known here")]
    UnknownKeyword { keyword: &'static str },
    #[error("\"{value}\" is no arithmetic: \"{replaced}\" is not of numbers, + - * / % ^ and brackets")]
    NoArithmetic { value: String, replaced: String },
    #[error("\"{value}\" is {number}, below 0")]
    BelowZero { value: String, number: i128 },
    #[error("\"{value}\" is no whole number")]
    NotWhole { value: String },
}

codes!(ValueFault {
    NotSet => "job-variable-not-set",
    UnknownKeyword => "job-unknown-keyword",
    NoArithmetic => "job-no-arithmetic",
    BelowZero => "job-below-zero",
    NotWhole => "job-not-whole",
});

/// Sections, options and jobs that cannot be as they stand in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    #[error("{bytes} bytes; at most {MOST_BYTES}")]
    LongFile { bytes: usize },
    #[error("more than {MOST_SECTIONS} sections")]
    ManySections,
    #[error("more than {MOST_OPTIONS} options, those of [global] counted in each section")]
    ManyOptions,
    #[error("numjobs times iodepth is {slots} over all jobs; at most {MOST_SLOTS}")]
    ManySlots { slots: u64 },
    #[error("there is no job in it")]
    NoJob,
    #[error("\"[{text}\" is no section")]
    NoSection { text: String },
    #[error("{option} stands before any section")]
    BeforeSections { option: String },
    #[error("wait_for: there is no job {waited} before {job}")]
    NoJobToWaitFor { waited: String, job: String },
    #[error("{job} and {other} are one group, and become steady together")]
    SteadyStates { job: String, other: String },
    #[error("ioengine={engine} is another engine's business: {why}")]
    OtherEngine { engine: String, why: &'static str },
    #[error("an fio option that pslc does not run: {option}: {why}")]
    NotRun { option: String, why: &'static str },
    #[error("an fio option that pslc does not run: {option}: it is {whose}")]
    OptionOfEngine { option: String, whose: &'static str },
    #[error("{option} is an option of the command line")]
    CommandLine { option: String },
    #[error("unknown option {option}")]
    UnknownOption { option: String, near: Option<&'static str> },
}

codes!(FileFault {
    LongFile => "job-long-file",
    ManySections => "job-many-sections",
    ManyOptions => "job-many-options",
    ManySlots => "job-many-slots",
    NoJob => "job-no-job",
    NoSection => "job-no-section",
    BeforeSections => "job-before-sections",
    NoJobToWaitFor => "job-no-job-to-wait-for",
    SteadyStates => "job-steady-states",
    OtherEngine => "job-other-engine",
    NotRun => "job-not-run",
    OptionOfEngine => "job-option-of-engine",
    CommandLine => "job-command-line",
    UnknownOption => "job-unknown-option",
});

impl FileFault {
    /// What to write instead.
    pub fn hint(&self) -> Hint {
        match self {
            Self::LongFile { .. } => "a job file is a text of a few lines".into(),
            Self::ManySections => "loops=N repeats a job, numjobs=N makes it several times".into(),
            Self::ManyOptions => "give fewer sections, or fewer options in [global]".into(),
            Self::ManySlots { .. } => {
                "no drive has more than 65536 requests in each queue; give fewer numjobs".into()
            }
            Self::NoJob => "a job is a section, [name], with options such as rw=write".into(),
            Self::NoSection { .. } => "a section is a name in brackets: [sequential-fill]".into(),
            Self::BeforeSections { .. } => "begin with [global] or a job's name in brackets".into(),
            Self::NoJobToWaitFor { .. } => "the job that is waited for stands first".into(),
            Self::SteadyStates { .. } => {
                "give both the same steadystate, ss_dur and ss_ramp, or the second new_group".into()
            }
            Self::OtherEngine { .. } => {
                "pslc runs reads, writes and trims of a drive: io_uring, libaio, psync and their like".into()
            }
            Self::NotRun { .. } | Self::OptionOfEngine { .. } => {
                "leave it out; docs/fio.md lists what is obeyed".into()
            }
            Self::CommandLine { option } => format!("leave it out here; pslc run JOBFILE --{option}").into(),
            Self::UnknownOption { near: Some(near), .. } => {
                format!("did you mean {near}? docs/fio.md lists what is obeyed").into()
            }
            Self::UnknownOption { near: None, .. } => "docs/fio.md lists what is obeyed".into(),
        }
    }
}
