//! What may have been meant by a word that nobody knows: the one rule for "did you mean".

/// Likeness from which one word is taken for another one misspelt: of ten letters three may be wrong, where two that
/// changed places count as one.
const MIN_LIKENESS: f64 = 0.7;
/// Letters that are looked at: the time goes with the lengths of both words.
const MAX_LETTERS: usize = 64;

/// The known word that `word` is most like, the first of equals; none where it is like none of them. A far guess is
/// worse than none.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().nth(MAX_LETTERS).is_some() {
        return None;
    }
    let mut best = (None, MIN_LIKENESS);
    for candidate in candidates {
        let likeness = strsim::normalized_damerau_levenshtein(word, candidate);
        if likeness > best.1 || (likeness == best.1 && best.0.is_none()) {
            best = (Some(candidate), likeness);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const WORDS: [&str; 8] =
        ["iodepth", "iodepth_low", "create_only", "log_offset", "wait_for", "fill", "cache.mode", "rw"];

    #[test]
    fn a_slip_names_what_was_meant_and_a_far_word_nothing() {
        for (word, meant) in [
            ("iodpeth", Some("iodepth")),
            ("fil", Some("fill")),
            ("cache.mod", Some("cache.mode")),
            ("readonly", None),
            ("bandwidth-log", None),
            ("log_issue_time", None),
            ("output-format", None),
            ("", None),
            ("\u{1b}]0", None),
        ] {
            assert_eq!(nearest(word, WORDS), meant, "{word}");
        }
        assert_eq!(nearest(&"iodepth".repeat(100_000), WORDS), None);
    }
}
