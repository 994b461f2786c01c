"""Fill a simulated drive and show its cliff: `make demo`. It is `pslc run fill`, with the picture at the end."""

from dataclasses import replace

import pslc
from pslc.base.output_dirs import new_folder
from pslc.report import page, recording_view, terminal

TARGET = "sim:aldrin-pro-2tb"


def main() -> None:
    """Run the suite, save its recording and page, and print first what it says, then the write curve."""
    recording = pslc.run("fill", on=TARGET)
    folder = new_folder(f"fill-{TARGET.removeprefix('sim:')}")
    recording.save(folder)
    view = recording_view.of_recording(recording)
    page.write(view, folder / "report.html")
    terminal.show(replace(view, pictures=[]))
    where = f"Page with all pictures: {folder / 'report.html'}"
    terminal.show(
        replace(view, title=f"pslc run fill --on {TARGET}", took=where, sentences=[], tables=[], doubts=[], notes=[])
    )


if __name__ == "__main__":
    main()
