"""A program of its own: reads the Parquet file or the picture on stdin, and writes what is in it to stdout.

    python -I unpacker.py '{"columns": ["time_ns"], "batch": 65536, "memory_bytes": 500000000, "seconds": 60}'
    python -I unpacker.py '{"pixels": 16000000, "memory_bytes": 500000000, "seconds": 60}'

Columns come as an Arrow stream; a picture as a line with its width and height, then three bytes for each pixel. A
damaged file can make the reader abort, or take any amount of memory and time. Here that ends this process alone, which
has nothing to lose and may take no more than it was told. The last line on stderr says why it ended.
"""

import io
import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arro3.core import RecordBatch, RecordBatchReader, Schema

PLAIN: Final = ("Boolean", "Int", "UInt", "Float", "Utf8", "LargeUtf8", "Timestamp", "Dictionary(Int", "Null")
"""Prefixes of the column types that are accepted, as Arrow names them."""
PICTURES: Final = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
"""Formats of pictures that are decoded, in Pillow's words; of a moving one the first picture."""
STDIN: Final = Path("/dev/fd/0")
MAX_BATCH_BYTES: Final = 64_000_000
"""Size limit of a batch of rows, in bytes: texts that are stored once may come back a million times."""


ADDRESS_SPACE_RATIO: Final = 4
"""Bytes of address space for each of memory."""


def main(asked: dict[str, object]) -> None:
    """Read an untrusted file in this process, and write its numbers to stdout."""
    memory_bytes = int(str(asked["memory_bytes"]))
    limit = runpy.run_path(str(Path(__file__).with_name("limits.py")))["limit"]
    limit(ADDRESS_SPACE_RATIO * memory_bytes, int(str(asked["seconds"])), memory_bytes)
    if "pixels" in asked:
        _picture(int(str(asked["pixels"])))
    else:
        _table(asked)


def _source() -> str | io.BytesIO:
    """The file on stdin, as its readers take it: its path, or its bytes where there is no /dev/fd."""
    if STDIN.exists():
        return str(STDIN)
    # Where it was read until now is the same for both processes.
    sys.stdin.buffer.seek(0)
    return io.BytesIO(sys.stdin.buffer.read())


def _picture(max_pixels: int) -> None:
    """Write the pixels of a picture over white. Its header says how many there are before one of them is decoded."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # The limit is below, and an error rather than a warning.
    with Image.open(_source(), formats=PICTURES) as picture:
        width, height = picture.size
        if width * height > max_pixels:
            raise ValueError(f"it has {width:,} x {height:,} pixels; the limit is {max_pixels:,}")
        if picture.mode in ("I", "F") or picture.mode.startswith("I;"):
            raise ValueError(f"its pixels are of mode {picture.mode}; 8 bits for each colour are read")
        pixels = picture.convert("RGBA")
    white = Image.new("RGBA", pixels.size, "white")
    white.alpha_composite(pixels)
    sys.stdout.buffer.write(f"{width} {height}\n".encode() + white.convert("RGB").tobytes())


def _table(asked: dict[str, object]) -> None:
    """Write the wanted columns of a Parquet file."""
    from arro3.core import RecordBatchReader
    from arro3.io import read_parquet, write_ipc_stream

    wanted, count = asked["columns"], int(str(asked["batch"]))
    reader = read_parquet(_source(), batch_size=count)
    names = [name for name in reader.schema.names if wanted is None or name in wanted]  # type: ignore[operator]
    schema = reader.schema.empty_table().select(names).schema
    for field in map(schema.field, names):
        kind = str(field.type).partition("<")[2].strip().removesuffix(">")
        if not kind.startswith(PLAIN):
            raise ValueError(f"column {field.name[:60]} is of type {kind[:60]}, not numbers or text")
    write_ipc_stream(RecordBatchReader.from_batches(schema, _batches(reader, schema)), sys.stdout.buffer)


def _batches(reader: "RecordBatchReader", schema: "Schema") -> Iterator["RecordBatch"]:
    """The wanted columns of each batch; of a table without rows one that is empty, so that its columns are known."""
    from arro3.core import Array, RecordBatch

    rows = 0
    for batch in reader:
        some = batch.select(schema.names)
        rows += some.num_rows
        if some.nbytes > MAX_BATCH_BYTES:
            raise ValueError(f"{some.num_rows} rows have {some.nbytes:,} bytes; the limit is {MAX_BATCH_BYTES:,}")
        yield some
    if not rows:
        yield RecordBatch.from_arrays([Array([], type=schema.field(name).type) for name in schema.names], schema=schema)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
        sys.stdout.flush()
    except BaseException as error:  # A panic of the reader's is no Exception.
        print(f"\nerror: {str(error).splitlines()[0][:300] if str(error) else type(error).__name__}", file=sys.stderr)
        sys.exit(1)
