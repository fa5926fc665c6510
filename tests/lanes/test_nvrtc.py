"""The C code is one that NVIDIA's compiler takes: needs its library, and no GPU.

How long that takes is in a report, with --junitxml=report.xml -o junit_family=xunit1.
"""

from __future__ import annotations

import ctypes
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from aptmc.backends.lanes.cuda.source import source_for
from tests.lanes.test_c_code import PROBLEMS

ARCHITECTURE = b"--gpu-architecture=sm_90"


def library():
    found = find_spec("nvidia")
    places = [] if found is None else found.submodule_search_locations
    files = [file for place in places for file in Path(place).rglob("libnvrtc.so.*")]
    if not files:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    return ctypes.CDLL(str(files[0]))


def complaints(code, *options):
    nvrtc, program, length = library(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"lanes.cu", 0, None, None)
    given = (ctypes.c_char_p * len(options))(*options)
    result = nvrtc.nvrtcCompileProgram(program, len(options), given)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(length))
    said = ctypes.create_string_buffer(length.value)
    nvrtc.nvrtcGetProgramLog(program, said)
    return said.value.decode() if result else None


@pytest.mark.validation
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_code_of_a_gpu_is_compiled(name, bits, record_property):
    made, _ = PROBLEMS[name]()
    options = [b"--std=c++17", ARCHITECTURE, *([] if bits == 64 else [b"--use_fast_math"])]
    code = source_for(made, bits)
    begun = time.process_time()
    assert complaints(code, *options) is None
    record_property("processor_seconds", time.process_time() - begun)
    assert "error" in complaints(code + "\nno C at all", *options)
