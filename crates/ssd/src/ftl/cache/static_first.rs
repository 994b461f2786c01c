//! The static part of a hybrid cache is filled first under every policy; here it is emptied first, too, so that it is
//! ready again after a short silence, and the dynamic part is folded only once nothing is left there. While the host
//! writes it is as with `direct-then-fold`.
//!
//! Samsung's data sheets describe their TurboWrite so ("970 EVO", 2018): the default region takes what comes first,
//! the intelligent one what does not fit.

use super::{FoldOrder, Overflow, Policy, View, WriteThrottle};

pub struct StaticFirst;

impl Policy for StaticFirst {
    const OVERFLOW: Overflow = Overflow::Native;
    const ORDER: FoldOrder = FoldOrder::StaticFirst;

    fn throttle(_: &View) -> WriteThrottle {
        WriteThrottle::None
    }
}
