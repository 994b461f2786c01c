//! Timelines are lists in the order of time, of which only the end matters: what is past goes when room is needed.

/// Make room where there is none: the `past`, which come before all others, may go. Returns how many went.
#[cold]
pub fn forget<T>(items: &mut Vec<T>, past: impl Fn(&T) -> bool) -> usize {
    let count = items.partition_point(past);
    // To move the others must not be more work than it was to add those that go.
    if 2 * count < items.len() || count == 0 {
        items.reserve(items.len().max(256));
        return 0;
    }
    items.drain(..count);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_the_past_goes_and_memory_is_a_few_times_what_is_not_past(
            steps in prop::collection::vec((0usize..20, 0usize..5000), 0..3000)
        ) {
            let (mut kept, mut all): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            let (mut next, mut horizon, mut gone, mut most_kept) = (0, 0, 0, 0);
            for (step, behind) in steps {
                if kept.len() == kept.capacity() {
                    gone += forget(&mut kept, |&item| item < horizon);
                }
                kept.push(next);
                all.push(next);
                prop_assert_eq!(&kept, &all[gone..]);
                prop_assert!(gone == 0 || all[gone - 1] < horizon);
                next += step;
                horizon = horizon.max(next.saturating_sub(behind));
                most_kept = most_kept.max(all.len() - all.partition_point(|&item| item < horizon));
            }
            prop_assert!(kept.capacity() <= 4 * most_kept.max(256));
        }
    }
}
