//! Counters as columns of a recording: one list of names and values, which cannot slip against each other.

/// The names as a constant, and a function that writes the values in the same order.
macro_rules! columns {
    (
        $(#[$about_names:meta])* $names_vis:vis const $names:ident;
        $(#[$about:meta])* $vis:vis fn $sample:ident(&$this:ident $(, $now:ident: $time:ty)?);
        $($name:literal: $value:expr),+ $(,)?
    ) => {
        $(#[$about_names])*
        $names_vis const $names: &'static [&'static str] = &[$($name),+];

        $(#[$about])*
        $vis fn $sample(&$this, $($now: $time,)? into: &mut [u64]) {
            into.copy_from_slice(&[$($value),+]);
        }
    };
}
pub(crate) use columns;
