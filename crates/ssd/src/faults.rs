//! Errors of all crates: enums whose variants say their sentence, their code and their hint.

use std::borrow::Cow;

/// What to do next; owned where it holds a name or a number of its error.
pub type Hint = Cow<'static, str>;

/// An enum of errors. A variant is a sentence (`thiserror`), its fields, its code and its hint, which knows the fields:
/// `NoMedium { path: PathBuf } = "device-no-medium" => "is the drive still there?",`
#[macro_export]
macro_rules! faults {
    ($(#[$about:meta])* pub enum $name:ident { $(
        $(#[$sentence:meta])*
        $variant:ident $({ $($(#[$from:meta])* $field:ident: $type:ty),+ $(,)? })? = $code:literal => $hint:expr,
    )+ }) => {
        $(#[$about])*
        pub enum $name { $($(#[$sentence])* $variant $({ $($(#[$from])* $field: $type),+ })?,)+ }

        $crate::codes!($name { $($variant => $code,)+ });

        impl $name {
            /// What to do next.
            #[allow(unused_variables, reason = "few hints need all fields")]
            pub fn hint(&self) -> $crate::Hint {
                match self {
                    $(Self::$variant $({ $($field),+ })? => $hint.into(),)+
                }
            }
        }
    };
}

/// Give an enum of errors its codes: `code` of a variant and `CODES` of all come from one list.
#[macro_export]
macro_rules! codes {
    ($error:ident { $($variant:ident => $code:literal,)+ }) => {
        impl $error {
            /// The codes of all variants.
            pub const CODES: &'static [&'static str] = &[$($code),+];

            /// What programs know this error by, however its sentence is put.
            pub fn code(&self) -> &'static str {
                match self {
                    $($error::$variant { .. } => $code,)+
                }
            }
        }
    };
}
