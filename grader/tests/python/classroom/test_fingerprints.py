"""The fingerprints of kernels, by which `lab32 similarity` compares submissions."""

import pytest

from lab32.similarity import ptx

TEXT = """
.file 1 "k.cu"
.visible .entry _Z4copyPfS_i(.param .u64 _Z4copyPfS_i_param_0, .param .u32 _Z4copyPfS_i_param_2)
{
 .reg .b32 %r<9>;
 .loc 1 3 1
 ld.param.u64 %rd1, [_Z4copyPfS_i_param_0]; // first
 mov.u32 %r1, %tid.x;
 .loc 1 4 1
 setp.lt.s32 %p1, %r1, %r2;
 @%p1 bra $L__BB0_2;
 add.s32 %r3, %r1, 7;
 shl.b32 %r4, %r3, 2;
 st.global.u32 [%rd1+4], %r4;
$L__BB0_2:
 ret;
}
"""


def fingerprints(text):
    return {print_ for lines in ptx.kernel_fingerprints(text, "k.cu").values() for print_ in lines}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("%r1,", "%r8,", True),
        ("$L__BB0_2", "$L__BB7_11", True),
        (".loc 1 4 1", ".loc 1 40 9", True),
        ("// first", "// second", True),
        ("add.s32", "add.u32", True),
        ("st.global.u32 [%rd1+4], %r4", "st.global.s32 [%rd1+4], %r4", True),
        ("setp.lt.s32 %p1, %r1, %r2", "setp.gt.s32 %p1, %r2, %r1", True),
        ("%r1, 7", "%r1, 8", False),
        ("%tid.x", "%tid.y", False),
        ("setp.lt", "setp.le", False),
        ("+4]", "+8]", False),
        ("_param_0]", "_param_1]", False),
    ],
)
def test_changes_that_keep_or_change_a_fingerprint(old, new, same):
    assert old in TEXT and len(fingerprints(TEXT)) == 3  # 8 instructions
    assert (fingerprints(TEXT.replace(old, new)) == fingerprints(TEXT)) is same


def test_restrict_does_not_change_a_fingerprint():
    load = TEXT.replace("shl.b32 %r4, %r3, 2", "ld.global.u32 %r4, [%rd1]")
    assert fingerprints(load) == fingerprints(load.replace("ld.global.", "ld.global.nc."))
    assert fingerprints(load) != fingerprints(load.replace("ld.global.", "ld.global.cg."))


def test_fingerprints_know_their_lines():
    (lines,) = ptx.kernel_fingerprints(TEXT, "k.cu").values()
    assert set().union(*lines.values()) == {3, 4}
    (lines,) = ptx.kernel_fingerprints(TEXT.replace('"k.cu"', '"cub.cuh"'), "k.cu").values()
    assert set().union(*lines.values()) == set()


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z9transposeILi32EEvPKfPf", "transpose"), ("_ZN4mine9transposeEv", "transpose"),
        ("plain", "plain"), ("_Z", "_Z"), ("_Z999x", "x"), ("_Z0x", "_Z0x"),
    ],
)  # fmt: skip
def test_names_of_kernels(mangled, name):
    assert ptx.base_name(mangled) == name


def test_invalid_ptx_is_read_without_an_error():
    for at in range(0, len(TEXT), 7):
        ptx.kernel_fingerprints(TEXT[:at], "k.cu")
        ptx.kernel_fingerprints(TEXT[at:], "k.cu")
        ptx.kernel_fingerprints(TEXT[:at] + "}}{ \0\ud800" + TEXT[at:], "k.cu")
