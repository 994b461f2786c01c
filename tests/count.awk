# Prints what `cargo test` prints, and at its end how many tests passed and failed in all crates.
{ print; fflush() }
/^test result: / { for (i = 2; i <= NF; i++) { if ($i == "passed;") passed += $(i - 1); if ($i == "failed;") failed += $(i - 1) } }
END { printf "Rust tests: %d passed, %d failed\n", passed, failed }
