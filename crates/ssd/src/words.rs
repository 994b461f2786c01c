//! Enums whose values have a name in profiles: one list, from which reading, writing and tests that try them all follow.

/// An enum with a word for each value.
pub trait Words: Copy + PartialEq + 'static {
    /// Every value there is.
    const ALL: &'static [Self];

    /// What a profile calls it.
    fn word(self) -> &'static str;
}

/// Define an enum, and the word for each of its values.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$about_value:meta])* $value:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$about_value])* $value),+
        }

        /// The first.
        impl Default for $name {
            fn default() -> $name {
                <$name as $crate::words::Words>::ALL[0]
            }
        }

        impl $crate::words::Words for $name {
            const ALL: &'static [$name] = &[$($name::$value),+];

            fn word(self) -> &'static str {
                match self {
                    $($name::$value => $word),+
                }
            }
        }
    };
}
pub(crate) use words;
