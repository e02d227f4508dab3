#include <doctest/doctest.h>

#include "grading/timing/given_time.h"

namespace lab32::tests {

using grading::NormalisedKernelTexts;

namespace {

const char kBase[] = R"(.version 9.0
	// .globl	_Z5scalePf
.const .align 4 .f32 lab32_answer_x = 0f40800000;
.global .align 8 .b8 table[16];
.extern .shared .align 16 .b8 tile[];
.func (.param .b32 func_retval0) _Z5twicei(
	.param .b32 _Z5twicei_param_0
)
{
	ld.global.u32 %r1, [table];
	ret;
}
.visible .entry _Z5scalePf(
	.param .u64 _Z5scalePf_param_0
)
.maxntid 256
{
	.loc	1 7 3
$L__tmp1:
	@%p1 bra 	$L__BB1_2;
$L__BB1_2:
	call.uni (retval0), _Z5twicei, (param0);
	ret;
}
	.file	1 "a.cu"
.visible .entry _Z3addPf(
	.param .u64 _Z3addPf_param_0
)
{
	ret;
}
.section .debug_str
{
}
)";

std::string edited(const std::string& from, const std::string& to) {
  std::string text = kBase;
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("grading: code map: a kernel's code includes everything that it refers to") {
  const NormalisedKernelTexts base(kBase);
  CHECK(base.code("scale") == base.code("_Z5scalePf"));
  CHECK(base.code("scale").find(".maxntid 256") != std::string::npos);
  CHECK(base.code("none").empty());
  CHECK(base.code("lab32_answer_x") == ".const .align 4 .f32 lab32_answer_x = 0f40800000;\n");

  const NormalisedKernelTexts longer(edited("table[16]", "table[32]"));
  CHECK(longer.code("scale") != base.code("scale"));
  CHECK(longer.code("add") == base.code("add"));
  const NormalisedKernelTexts answered(edited("0f40800000", "0f40800001"));
  CHECK(answered.code("lab32_answer_x") != base.code("lab32_answer_x"));
  CHECK(answered.code("scale") == base.code("scale"));
  CHECK(NormalisedKernelTexts(edited(".maxntid 256", ".maxntid 128")).code("scale") !=
        base.code("scale"));
}

TEST_CASE("grading: code map: positions and the numbering of functions are left out") {
  const std::string base = NormalisedKernelTexts(kBase).code("scale");
  CHECK(NormalisedKernelTexts(edited("	.loc	1 7 3\n", "	.loc	1 9 1\n")).code("scale") ==
        base);
  CHECK(NormalisedKernelTexts(edited("$L__tmp1:\n", "")).code("scale") == base);
  std::string moved = edited("bra 	$L__BB1_2", "bra 	$L__BB4_2");
  moved.replace(moved.find("$L__BB1_2:"), 10, "$L__BB4_2:");
  CHECK(NormalisedKernelTexts(moved).code("scale") == base);
  CHECK(NormalisedKernelTexts(edited("bra 	$L__BB1_2", "bra 	$L__BB1_3"))
            .code("scale") != base);
}

TEST_CASE("grading: code map: a name that means two kernels has no code") {
  std::string text = kBase;
  text += ".visible .entry _Z3addPi(\n)\n{\n}\n";
  CHECK(NormalisedKernelTexts(text).code("add").empty());
  CHECK_FALSE(NormalisedKernelTexts(text).code("_Z3addPf").empty());
}

}  // namespace lab32::tests
