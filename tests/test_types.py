"""Types of what the native module returns, in Python and on the page, are those of what is really handed over.

Its stub is held by `tests/test_package.py`."""

import json
import re
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from benches.small import PROFILE
from pydantic import ConfigDict, TypeAdapter

from pslc import _native
from pslc.lab import page_data
from pslc.schema.facts import Facts, InspectedFile, Mount
from pslc.schema.job_options import Traits
from pslc.schema.results import Planned, ReplayResult, Result
from pslc.schema.surveys import Batch, Survey
from tests.conftest import ROOT

JOB = ("[job]\nrw=randrw\nbs=4k\nsize=1m\nverify=crc32c\nss=iops:1%\nlatency_target=1ms\nwrite_lat_log=a\n", "job", [])
HOW = {"pace": "asap", "speed": 1.0, "iodepth": 1, "fit": "exact", "span_bytes": 1 << 30, "prefill": True,
       "largest_bytes": 1 << 20, "survey": True}  # fmt: skip
INTERFACES = dict(
    re.findall(r"^export interface (\w+) \{\n(.*?)^\}", (ROOT / "web/src/types.ts").read_text(), re.M | re.S)
)


@pytest.fixture(scope="module")
def handed_over(tmp_path_factory):
    """What the native module returns, by its type."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "trace.log").write_text("fio version 3 iolog\n0 a add\n0 a open\n1 a write 0 4096\n2000 a read 0 4096\n")
    (folder / "file").write_bytes(bytes(1 << 20))
    drive = _native.SimDrive("small", PROFILE, {}, [])
    trace = _native.TraceFile(str(folder / "trace.log"))
    return {
        Facts: drive.facts(),
        Result: drive.run(*JOB, 1),
        Planned: _native.plan_jobs(*JOB, 1 << 30),
        Traits: _native.traits([("rw", "randrw")]),
        Survey: trace.survey(),
        Batch: next(iter(trace.read(10))),
        ReplayResult: drive.replay(trace, HOW),
        InspectedFile: _native.inspect_file(str(folder / "file")),
        list[Mount]: _native.mounts(),
        dict[str, int]: drive.counters(),
    }


def test_what_the_native_module_returns_has_the_keys_and_the_kinds_of_its_types(handed_over):
    for kind, value in handed_over.items():
        as_json = json.dumps([value], default=lambda of: of.decode("latin-1") if isinstance(of, bytes) else str(of))
        config = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
        TypeAdapter(list[kind], config=config).validate_json(as_json)


def fields(interface: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+): (.*);$", INTERFACES[interface], re.M))


def in_typescript(kind: Any) -> str:
    """A type of Python's in TypeScript's words."""
    arguments = [in_typescript(of) for of in get_args(kind)]
    match get_origin(kind) or kind:
        case origin if origin is UnionType:
            return " | ".join(arguments)
        case origin if origin is tuple:
            return f"[{', '.join(arguments)}]"
        case origin if origin in (Mapping, dict):
            return f"Record<{', '.join(arguments)}>"
        case origin if origin in (Sequence, list):
            return f"{arguments[0]}[]"
        case origin if is_typeddict(origin):
            return origin.__name__ if origin.__name__ in INTERFACES else origin.__name__.removesuffix("Data")
        case origin:
            words = {int: "number", float: "number", str: "string", bool: "boolean", object: "unknown"}
            return {**words, NoneType: "null"}[origin]


@pytest.mark.parametrize("name", [name for name in vars(page_data) if name.endswith("Data")])
def test_the_data_of_the_page_have_the_keys_and_kinds_that_the_page_reads(name):
    of = getattr(page_data, name)
    expected = {key: in_typescript(kind) for key, kind in get_type_hints(of).items()}
    if name == "DriveData":
        expected |= {"figures": "Figure[]", "fill": "Fill", "recovery": "Recovery"}
    shown = {key: re.sub(r"\{.*\}", "Record<string, string>", kind) for key, kind in fields(in_typescript(of)).items()}
    assert shown == expected


RUST = {r"Vec<(.*)>": r"\1[]", r"Option<(.*)>": r"\1 | null", r"\b(HashMap|BTreeMap)<(.*)>": r"Record<\2>",
        r"&'static str|String": "string", r"\b[uf](32|64)\b": "number", r"\((.*)\)": r"[\1]"}  # fmt: skip


FIELD = r"(?<!#\[serde\(skip\)\])\n    (?:pub )?(\w+): (.*)(?=,$)"


def of_rust(kind: str) -> str:
    """A type of Rust's in TypeScript's words."""
    for pattern, replacement in RUST.items():
        kind = re.sub(pattern, replacement, kind)
    return kind


def test_the_answers_of_the_page_s_module_have_the_keys_and_kinds_that_the_page_reads():
    source = "".join(path.read_text() for path in sorted((ROOT / "crates/web/src").glob("*.rs")))
    structs = dict(
        re.findall(r"^#\[derive\([^)]*erialize[^)]*\)\]\n(?:pub )?struct (\w+) \{(.*?)^\}", source, re.M | re.S)
    )
    shared = structs.keys() & INTERFACES.keys()
    assert shared == {"Answer", "Curve", "DriveFacts", "Failure", "Phase", "Question"}
    for name in shared:
        expected = {key: of_rust(kind) for key, kind in re.findall(FIELD, structs[name], re.M)}
        # The page names causes, sees pictures beside the answer, and asks for no seed.
        shown = fields(name) | {"film": "Moment[]", "pictures": "", "cause": "string", "seed": "number"}
        assert expected == {key: shown[key] for key in expected}, name
        assert fields(name).keys() - expected.keys() <= {"pictures"}, name
