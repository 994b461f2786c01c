//! Codes and hints of errors, for all crates.

use std::borrow::Cow;

/// A hint; owned where it holds a name or a number of its error.
pub type Hint = Cow<'static, str>;

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
