"""Make the path file of an editable install ASCII: Python 3.11 reads it in the locale's encoding, and with LC_ALL=C no
Python starts beside one that names a checkout such as /home/josé/pslc."""

import sys
from pathlib import Path

if __name__ == "__main__":
    file = Path(sys.argv[1])
    path = file.read_text(encoding="utf-8").strip()
    if not path.isascii():
        file.write_text(f"import sys; sys.path.append({path!a})\n", encoding="ascii")
