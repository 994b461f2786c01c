//! What may have been meant by a word that nobody knows.

/// The known word that takes the fewest edits to reach from the beginning of `word`.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    // The time goes with the lengths of both, so no longer than any that is known, and only where it can be nearer.
    let word = &word[..word.char_indices().nth(32).map_or(word.len(), |(at, _)| at)];
    let mut best = ("", usize::MAX);
    for candidate in known {
        if candidate.len().abs_diff(word.chars().count()) < best.1 {
            let distance = strsim::levenshtein(word, candidate);
            if distance < best.1 {
                best = (candidate, distance);
            }
        }
    }
    best.0
}
