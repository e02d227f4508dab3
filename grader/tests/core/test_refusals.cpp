// The simulator refuses unsupported features by name, when the kernel is looked up and not before.
#include <doctest/doctest.h>

#include "base/error.h"
#include "device/sim_device.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;

namespace {

std::string refusal(const std::string& body, const std::string& functions = "") {
  tests::Setup setup;
  setup.functions = functions;
  try {
    tests::run(body, setup);
  } catch (const Error& e) {
    return e.what();
  }
  FAIL("was accepted: ", body);
  return "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("core: refusals: most are found without decoding, in the same words") {
  const auto seen = [](const std::string& body, const std::string& functions = "") {
    const auto all = device::unsupported_kernels_of(
        tests::with_header(functions +
                           ".visible .entry good() { ret; }\n.visible .entry k(.param .u64 p) {\n"
                           ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .f32 %f<9>;\n" +
                           body + "\nret;\n}\n"));
    CHECK(all.count("good") == 0);
    return all.count("k") ? all.at("k") : "";
  };
  CHECK(seen("add.u32 %r1, %r2, 1;") == "");
  CHECK(
      seen(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, "
          "{%r4,%r5}, {%f0,%f1,%f2,%f3};") == "");
  CHECK(holds(seen("discard.global.L2 [%d1], 128;"),
              "PTX line 9: `discard.global.L2` is not supported"));
  CHECK(seen("vadd.u32.s32.s32.min %r1, %r2, %r3, %r4;") ==
        "PTX line 9: vadd.u32.s32.s32.min: ptxas compiles this comparison in another way than the "
        "PTX ISA says");
  CHECK(holds(seen("mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {%f0,%f1,%f2,%f3}, "
                   "{%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, %r8, 0;"),
              "sums of floats only on sm_90"));
  const std::string missing = ".extern .func missing();\n";
  CHECK(holds(seen("call.uni missing;", missing),
              ": the device function `missing` is not supported"));
  CHECK(holds(seen("call.uni calls;", missing + ".func calls() { call.uni missing; ret; }\n"),
              ": the device function `missing` is not supported"));
}

TEST_CASE("core: refusals: instructions outside the table are refused with line and caret") {
  for (const std::string line :
       {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %d1, %d2, 1, 1, 1, "
        "0, 0;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%e1}, {%e2}, {%e3}, {%e1}, %r3, 0;",
        "mbarrier.arrive_drop.shared::cluster.b32 %d1, [%r1];", "txq.samples.b32 %r1, [%d1];",
        "sured.p.add.1d.b32.trap [%d1, {%r1}], %r2;",
        "cp.reduce.async.bulk.tensor.1d.global.add.im2col [%d1, {%r1}], [%r1];",
        "st.async.weak.shared::cluster.b32 [%r1], %r2, [%r3];"}) {
    const std::string text = refusal("add.u32 %r1, %t, 1;\n  " + line);
    const std::string opcode = line.substr(0, line.find_first_of(" ;"));
    CAPTURE(text);
    CHECK(holds(text, opcode));
    CHECK(holds(text, "\n  " + line + "\n"));
    CHECK(holds(text, "^"));
    CHECK(holds(text, "PTX line "));
  }
}

TEST_CASE("core: refusals: combinations that the ISA lacks are refused") {
  CHECK(holds(refusal("ld.global.v4.u64 {%d1,%d2,%d3,%d4}, [%in];"), "more than 16 bytes"));
  CHECK(holds(refusal("st.shared.v4.f64 [%r1], {%e1,%e2,%e3,%e4};"), "more than 16 bytes"));
  CHECK(holds(refusal("atom.global.min.f32 %f1, [%out], %f2;"), "atom.global.min.f32"));
  CHECK(holds(refusal("cvta.shared.u32 %r1, %r2;"), "64-bit"));
  CHECK(holds(refusal("mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
                      "{%r1}, {%r2}, {%f0,%f1,%f2,%f3};"),
              "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32"));
  CHECK(holds(refusal("tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1,%r2}];"),
              "integer coordinates in other forms than tex1Dfetch's are not simulated"));
  CHECK(holds(refusal("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1}];"),
              "as many coordinates as it has"));
  CHECK(holds(refusal("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2}, {%r1,%r2}, "
                      "{%r3}, {%f0,%f1,%f2,%f3};"),
              "takes 4 registers there, not 3"));
}

TEST_CASE("core: refusals: products that the ISA or sm_90 lacks are refused") {
  const auto product = [](const std::string& op, const std::string& rest = "") {
    return refusal(op +
                   " {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}" +
                   rest + ";");
  };
  CHECK(holds(product("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"),
              "takes 8 registers there, not 4"));
  for (const std::string op : {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32",
                               "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
                               "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
                               "mma.sync.aligned.m16n8k8.row.col.f32.e4m3.e5m2.f32",
                               "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.f16.f32",
                               "mma.sync.aligned.m16n8k32.row.col.satfinite.f32.e4m3.e4m3.f32"})
    CHECK(holds(product(op), op + ": the PTX ISA has no such combination of types and modifiers"));
  const std::string sparse = "mma.sp.sync.aligned.",
                    halves = sparse + "m16n8k32.row.col.f32.f16.f16.f32";
  CHECK(
      holds(product(sparse + "m16n8k16.row.col.s32.s8.s8.s32", ", %r8, 0"), "no such combination"));
  CHECK(holds(product(sparse + "m16n8k32.row.col.f32.e4m3.e4m3.f32", ", %r8, 0"),
              "no such combination"));
  CHECK(holds(product(sparse + "m16n8k64.row.col.f16.e4m3.e4m3.f16", ", %r8, 0"),
              "sparse products of 8-bit floats have sums of floats only on sm_90"));
  CHECK(holds(product(halves, ", %r8, 2"), "the sparsity selector is below 2 here"));
  CHECK(holds(product(halves, ", %r8, %r9"), "the sparsity selector is a constant from 0 to 3"));
  CHECK(holds(product(halves, ", 1145324612, 0"), "the metadata are those of a register"));
}

TEST_CASE("core: refusals: reductions and queries that ptxas lacks or with unknown results") {
  const std::string engine = "cp.reduce.async.bulk.global.shared::cta.bulk_group.";
  for (const std::string operation : {"and.u32", "add.s64", "inc.s32", "add.b32", "min.f32",
                                      "add.f16", "min.noftz.f16", "add.noftz.f32"})
    CHECK(holds(refusal(engine + operation + " [%out], [%r1], 16;"),
                "the PTX ISA has no such combination"));
  const std::string arrives =
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";
  CHECK(holds(refusal(arrives + "min.u64 [%r1], %d1, [%r2];"), "min.u64"));
  CHECK(holds(refusal(arrives + "inc.s32 [%r1], %r3, [%r2];"), "inc.s32"));
  CHECK(holds(refusal("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r1], "
                      "{%d1,%d2,%d3,%d4}, [%r2];"),
              "more than 16 bytes"));
  CHECK(holds(refusal("sured.b.add.1d.s64.trap [%d1, {%r1}], %d2;"), "sured.b.add.1d.s64.trap"));
  CHECK(holds(refusal("txq.channel_order.b32 %r1, [%d1];"), "objects is not known"));
  CHECK(holds(refusal("suq.array_size.b32 %r1, [%d1];"), "objects is not known"));
}

TEST_CASE("core: refusals: functions that are only declared, or call a refused function") {
  CHECK(holds(refusal("call.uni malloc_like, ();", ".extern .func malloc_like();\n"),
              "the device function `malloc_like` is not supported by the simulator"));
  const std::string text = refusal("call.uni helper, ();", R"(
.func helper()
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  mbarrier.arrive_drop.shared.b32 %d1, [%r1];
  ret;
}
)");
  CHECK(holds(text, "mbarrier.arrive_drop.shared.b32"));
  CHECK(holds(text, "helper"));
}

TEST_CASE("core: refusals: kernels and profiles that do not exist") {
  tests::Simulated s(tests::with_header(".visible .entry only() { ret; }\n"));
  CHECK(s.module->find("other") == nullptr);
  CHECK(s.module->kernel_names() == std::vector<std::string>{"only"});
  try {
    device::make_sim_device("voodoo");
    FAIL("was accepted");
  } catch (const Error& e) {
    CHECK(holds(e.what(), "there is no device profile `voodoo`; there are: "));
    CHECK(holds(e.what(), "h200"));
  }
}
