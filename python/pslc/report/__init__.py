"""Reports of a recording: `terminal` for the eye at the prompt, `page` for a browser, `fio` for fio's readers."""
