"""fio's face: its outputs and its command line, `python -m pslc.fio`."""
