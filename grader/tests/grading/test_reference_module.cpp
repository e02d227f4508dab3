// The reference solutions as lab32 ships them: the kernels run, and everything that reveals their
// source is gone.

#include <doctest/doctest.h>

#include "base/environment.h"
#include "device/device.h"
#include "gpu/device.h"
#include "grading/engine/compiled.h"
#include "grading/timing/reference_module.h"
#include "tests/fixtures/each_lab.h"
#include "toolchain/nvcc.h"

namespace lab32::grading {

namespace {

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// The module of a lab, sealed and unsealed.
std::string module_of(const std::string& lab) {
  const std::string bytes = sealed_reference_ptx(lab);
  for (const char* word : {"lab32_answer", ".entry", ".reg", "__global__", "ld.global"})
    CHECK_FALSE(has(bytes, word));
  const std::optional<std::string> text = deobfuscate_text(bytes);
  REQUIRE(text);
  return *text;
}

void check_module(const std::string& lab) {
  const std::string ptx = module_of(lab);
  for (const char* word : {"lab32_answer", "//", ".loc", ".file", ".section", ".cu", "_ZZ"})
    CHECK_FALSE_MESSAGE(has(ptx, word), word);
  // The module has every kernel of the solution and can be assembled for another card.
  const auto file = lab32_root() / "solutions" / lab / (lab + ".cu");
  const toolchain::CompiledArtifact whole = compile_with_given_kernels(
      lab, toolchain::read_submission(file, file.string()), "sm_90", file.string());
  CHECK(device::read_kernel_entry_points(ptx).size() ==
        device::read_kernel_entry_points(whole.ptx).size());
  const std::optional<toolchain::CompiledArtifact> module = reference_artifact(lab, "sm_90");
  REQUIRE(module);
  CHECK(module->arch == "sm_90");
  CHECK_FALSE(has(module->cubin, "lab32_answer"));
  // The simulator can read the LAB32_LAUNCH records.
  const auto device = device::open_device("sim");
  CHECK(device->load(*module)->kernel_names().size() ==
        device::read_kernel_entry_points(ptx).size());
  CHECK_FALSE(reference_artifact(lab, "sm_70"));
}

}  // namespace

TEST_EACH_LAB("grading: the sealed reference solution", check_module, 1);

TEST_CASE("grading: bare PTX reveals nothing of its source") {
  const std::string ptx =
      "// Generated\n.version 9.0\n.target sm_75\n"
      ".const .align 4 .f32 lab32_answer_sectors = 0f41000000;\n"
      ".const .align 4 .b8 lab32_tile_best[12] = {64};\n"
      ".visible .entry _Z4bestPf(\n\t.param .u64 _Z4bestPf_param_0\n)\n{\n"
      "\t.shared .align 4 .b8 _ZZ4bestPfE5trick[64];\n"
      "\t.loc\t1 12 3\n"
      "\tmov.u32 \t%r1, _ZZ4bestPfE5trick;  // the address\n"
      "\tret;\n\n}\n\t.file\t1 \"best.cu\"\n\t.section\t.debug_str\n\t{\n.b8 98\n\t}\n";
  CHECK(ptx_without_debug_info(ptx) ==
        ".version 9.0\n.target sm_75\n.const .align 4 .b8 lab32_tile_best[12] = {64};\n"
        ".visible .entry _Z4bestPf(\n.param .u64 _Z4bestPf_param_0\n)\n{\n"
        ".shared .align 4 .b8 local1[64];\nmov.u32 \t%r1, local1;  \nret;\n}\n");
}

TEST_CASE("grading: a sealed text can be unsealed, and a damaged one cannot") {
  const std::string bytes = obfuscate_text("some PTX");
  CHECK(deobfuscate_text(bytes) == "some PTX");
  CHECK_FALSE(has(bytes, "PTX"));
  std::string damaged = bytes;
  damaged.back() ^= 1;
  CHECK_FALSE(deobfuscate_text(damaged));
  CHECK_FALSE(deobfuscate_text(bytes.substr(0, 20)));
  CHECK_FALSE(deobfuscate_text("some PTX"));
}

}  // namespace lab32::grading
