//! Requests are counted when they end, however long their data were on the way. In a series they count while they were moved:
//!
//! ```text
//!   ended at once      ____|      moved      ____/‾      as steep as the link is at most
//!                     |                    /
//!                   __|                  _/
//! ```

use pslc_ssd::Pace;

/// Make each total, the latest first, what must have been moved by then for what ended later.
pub fn moved_by<'a>(rows: impl Iterator<Item = (u64, &'a mut u64)>, pace: Pace) {
    let mut later: Option<(u64, u64)> = None;
    for (end, total) in rows {
        if let Some((after, most)) = later {
            *total = (*total).max(most.saturating_sub(pace.within(after - end)));
        }
        later = Some((end, *total));
    }
}
