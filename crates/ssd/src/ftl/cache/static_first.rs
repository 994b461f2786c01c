//! The static part of a hybrid cache is filled first under every policy; here it is emptied first, too, so that it is
//! ready again after a short silence, and the dynamic part is folded only once nothing is left there. While the host
//! writes it is as with `direct-then-fold`.
//!
//! Reviews describe the TurboWrite of Samsung's 970 EVO (2018) as a default region and, for what does not fit, a dynamic
//! one as far as there is free space. Which of them it empties first is not published; that is the idea here.

use super::{FoldOrder, Overflow, Policy, View, WriteThrottle};

pub struct StaticFirst;

impl Policy for StaticFirst {
    const OVERFLOW: Overflow = Overflow::Native;
    const ORDER: FoldOrder = FoldOrder::StaticFirst;

    fn throttle(_: &View) -> WriteThrottle {
        WriteThrottle::None
    }
}
