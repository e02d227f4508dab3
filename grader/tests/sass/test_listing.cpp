// Reads nvdisasm's output: instructions, origins, memory operands, control flow.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/function_plan.h"
#include "simulator/sass/listing.h"
#include "simulator/sass/operands.h"

using namespace lab32;
using namespace lab32::sass;
using sim::AccessKind;

namespace {

// A listing of one kernel named k, from its instructions and labels.
Disassembly kernel(const std::string& body) {
  return parse_disassembly(
      "\t.section\t.text.k,\"ax\",@progbits\n\t.sectioninfo @\"SHI_REGISTERS=8\"\n"
      "        .type           k,@function\nk:\n.text.k:\n" +
      body);
}

MemoryOp op_of(const std::string& text) {
  const Disassembly l = kernel("        /*0000*/  " + text + " ;\n");
  REQUIRE(l.functions.size() == 1);
  REQUIRE(l.functions[0].code.size() == 1);
  const auto op = memory_op(l.functions[0].code[0]);
  REQUIRE_MESSAGE(op.has_value(), text);
  return *op;
}

UnplacedPtxAccess member(int64_t offset, std::vector<sass::SassAccessRanges> shapes,
                         int bytes = 4) {
  UnplacedPtxAccess m;
  m.offset = offset;
  m.bytes = bytes;
  m.live.assign(static_cast<size_t>(bytes), true);
  m.shapes = std::move(shapes);
  return m;
}
const sass::SassAccessRanges kWord{{0, 4}}, kDouble{{0, 8}}, kQuad{{0, 16}};

}  // namespace

TEST_SUITE("sass: listing") {
  TEST_CASE("sass: an instruction has its address, guard, opcode, operands and origin") {
    const Disassembly l = kernel(
        "\t//## File \"lab.cu\", line 3 inlined at \"lab.cu\", line 9\n"
        "\t//## File \"lab.cu\", line 9\n"
        "\t//## File \".nv_debug_ptx_txt\", line 38\n"
        "        /*0080*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ;\n"
        "        /*0090*/                   EXIT ;\n"
        "\t//## File \".nv_debug_ptx_txt\", line 40\n"
        "        /*00a0*/                   NOP;\n"
        "\t//## File \"lab.cu\", line 12\n"
        "        /*00b0*/                   NOP;\n");
    REQUIRE(l.functions.size() == 1);
    const auto& code = l.functions[0].code;
    REQUIRE(code.size() == 4);
    CHECK(code[0].address == 0x80);
    CHECK(code[0].guard == "!P0");
    CHECK(code[0].opcode == "LDG.E.128");
    CHECK(code[0].base() == "LDG");
    CHECK(code[0].has("128"));
    CHECK_FALSE(code[0].has("LDG"));
    CHECK(code[0].operands == "R4, desc[UR4][R2.64+0x10]");
    CHECK(code[0].ptx_line == 38);
    const auto& frames = l.sources[static_cast<size_t>(code[0].source)];
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].file == "lab.cu");
    CHECK(frames[0].line == 3);
    CHECK(frames[1].line == 9);
    CHECK(code[1].ptx_line == 38);
    CHECK(code[1].guard.empty());
    CHECK(code[2].opcode == "NOP");
    CHECK(code[2].ptx_line == 40);
    CHECK(l.sources[static_cast<size_t>(code[2].source)].size() == 2);
    CHECK(l.sources[static_cast<size_t>(code[3].source)].size() == 1);
    CHECK(code[3].ptx_line == 40);
  }

  TEST_CASE("sass: the scheduling control of an instruction is decoded") {
    // chain_wave of grader/tools/calibration: the addition waits for the sine, and the following
    // branch for twelve more cycles.
    const Disassembly l = kernel(
        "        /*0100*/                   MUFU.SIN R5, R2 ;   /* 0x0000000200057308 */\n"
        "                                                       /* 0x000e220000000400 */\n"
        "        /*0110*/                   FADD R5, R5, 0.5 ;  /* 0x3f00000005057421 */\n"
        "                                                       /* 0x001fd80000000000 */\n"
        "        /*0120*/                   NOP;\n");
    const auto& code = l.functions.at(0).code;
    REQUIRE(code.size() == 3);
    CHECK(code[0].control.known);
    CHECK(code[0].control.stall == 1);
    CHECK(code[0].control.write == 0);
    CHECK(code[0].control.read == -1);
    CHECK(code[0].control.waits_for == 0);
    CHECK(code[1].control.stall == 12);
    CHECK(code[1].control.write == -1);
    CHECK(code[1].control.waits_for == 1);
    CHECK_FALSE(code[2].control.known);
  }

  TEST_CASE("sass: labels, functions inside a kernel and other sections are read") {
    const Disassembly l = parse_disassembly(
        "\t.section\t.nv.info,\"\",@\"SHT_CUDA_INFO\"\n        /*0000*/ .byte 0x04, 0x2f\n"
        "\t.section\t.text._Z1kPf,\"ax\",@progbits\n_Z1kPf:\n.text._Z1kPf:\n"
        "        /*0000*/                   CALL.REL.NOINC `($_Z1kPf$_Z3putPf) ;\n"
        ".L_x_1:\n"
        "        /*0010*/                   BRA `(.L_x_1) ;\n"
        "        .type           $_Z1kPf$_Z3putPf,@function\n"
        "$_Z1kPf$_Z3putPf:\n"
        "        /*0020*/                   RET.REL.NODEC R2 `(_Z1kPf) ;\n");
    REQUIRE(l.functions.size() == 2);
    CHECK(l.functions[0].name == "_Z1kPf");
    CHECK(l.functions[0].code.size() == 2);
    CHECK(l.functions[0].labels.at(".L_x_1") == 1);
    CHECK(l.functions[1].name == "$_Z1kPf$_Z3putPf");
    CHECK(l.functions[1].kernel == "_Z1kPf");
    CHECK(l.find("_Z1kPf") == &l.functions[0]);
    CHECK(l.find("_Z1k") == nullptr);
  }

  TEST_CASE("sass: a listing that is cut off anywhere is read as far as it goes") {
    const std::string section = ".section .text.k,\"ax\"\n.text.k:\n";
    for (const char* rest : {"/*0000*/ @P0;", "/*0000*/ @;", "/*0000*/ ;", "/*", "/*/", "/*0000*/",
                             ":", ".L_x_1:", "//## File \"", "//## File \"a\", line"})
      CHECK(parse_disassembly(section + rest).functions.front().code.size() <= 1);
    const Disassembly l = parse_disassembly(section + "/*0010*/ @!P0;\n");
    REQUIRE(l.functions.front().code.size() == 1);
    CHECK(l.functions.front().code[0].guard == "!P0");
    CHECK(l.functions.front().code[0].opcode == "");
  }

  TEST_CASE("sass: an empty cubin is a listing without functions; another format is refused") {
    CHECK(parse_disassembly("\t.headerflags\t@\"EF_CUDA_SM90\"\n").functions.empty());
    CHECK_THROWS_AS(parse_disassembly("Fatbin: .text.k\n"), Error);
  }

  TEST_CASE("sass: memory operations of Turing to Blackwell are recognised") {
    struct Row {
      const char* text;
      MemorySpace space;
      AccessKind kind;
      int bytes;
      const char* base;
      int64_t offset;
    };
    const Row rows[] = {
        {"LDG.E.SYS R0, [R2]", MemorySpace::global, AccessKind::load, 4, "R2", 0},
        {"LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10]", MemorySpace::global, AccessKind::load, 16,
         "R2.64", 16},
        {"LDG.E.U8 R5, [R4.64+-0x1]", MemorySpace::global, AccessKind::load, 1, "R4.64", -1},
        {"LDG.E.S16 R5, [R4]", MemorySpace::global, AccessKind::load, 2, "R4", 0},
        {"LDG.E.LTC128B R5, [R4]", MemorySpace::global, AccessKind::load, 4, "R4", 0},
        {"STG.E.64 desc[UR6][R4.64], R2", MemorySpace::global, AccessKind::store, 8, "R4.64", 0},
        {"LDS.U R3, [R9.X4+0x40]", MemorySpace::shared, AccessKind::load, 4, "R9.X4", 64},
        {"LDS.128 R4, [UR5+0x30]", MemorySpace::shared, AccessKind::load, 16, "UR5", 48},
        {"LDS.U8 R8, [R6+UR4+0x1]", MemorySpace::shared, AccessKind::load, 1, "R6+UR4", 1},
        {"STS [R2+-0x800], R9", MemorySpace::shared, AccessKind::store, 4, "R2", -2048},
        {"STS.U16 [R2], R9", MemorySpace::shared, AccessKind::store, 2, "R2", 0},
        {"LDL.LU R4, [R1+0x8]", MemorySpace::local, AccessKind::load, 4, "R1", 8},
        {"STL.128 [R1], R4", MemorySpace::local, AccessKind::store, 16, "R1", 0},
        {"LD.E R4, [R2.64]", MemorySpace::generic, AccessKind::load, 4, "R2.64", 0},
        {"ST.E.128 [R2.64], R4", MemorySpace::generic, AccessKind::store, 16, "R2.64", 0},
        {"ATOM.E.ADD.STRONG.GPU PT, R3, [R2.64], R5", MemorySpace::generic, AccessKind::atom, 4,
         "R2.64", 0},
        {"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [UR4], R2", MemorySpace::global, AccessKind::red, 4,
         "UR4", 0},
        {"RED.E.ADD.64.STRONG.GPU [R2.64], R4", MemorySpace::global, AccessKind::red, 8, "R2.64",
         0},
        {"REDG.E.ADD.F64.RN.STRONG.GPU desc[UR4][R4.64], R2", MemorySpace::global, AccessKind::red,
         8, "R4.64", 0},
        {"REDG.E.ADD.F16x2.RN.STRONG.GPU desc[UR4][R4.64], R2", MemorySpace::global,
         AccessKind::red, 4, "R4.64", 0},
        {"ATOMG.E.CAS.STRONG.GPU PT, R5, [R4], R6, R7", MemorySpace::global, AccessKind::atom, 4,
         "R4", 0},
        {"ATOMS.POPC.INC.32 RZ, [R6+URZ]", MemorySpace::shared, AccessKind::atom, 4, "R6+URZ", 0},
        {"ATOMS.CAST.SPIN.64 R6, [R9], R4, R6", MemorySpace::shared, AccessKind::atom, 8, "R9", 0},
    };
    for (const Row& row : rows) {
      CAPTURE(row.text);
      const MemoryOp op = op_of(row.text);
      CHECK(op.space == row.space);
      CHECK(op.kind == row.kind);
      CHECK(op.bytes == row.bytes);
      CHECK(op.base == row.base);
      CHECK(op.offset == row.offset);
      CHECK_FALSE(op.matrix);
    }
    CHECK(op_of("LDSM.16.M88.4 R12, [R0]").matrix);
    const MemoryOp copy = op_of("LDGSTS.E.BYPASS.128 [R9], desc[UR6][R2.64+0x20]");
    CHECK(copy.async_copy);
    CHECK(copy.bytes == 16);
    CHECK(copy.base == "R2.64");
    CHECK(copy.offset == 32);
    // No counter rule covers 32 bytes per lane.
    CHECK(op_of("LDG.E.ENL2.256 R4, R8, desc[UR4][R2.64]").bytes == 0);
    const Disassembly l = kernel(
        "        /*0000*/  LDC.64 R2, c[0x0][0x210] ;\n"
        "        /*0010*/  LDCU.128 UR4, c[0x0][0x380] ;\n"
        "        /*0020*/  IMAD R5, R9, UR4, R0 ;\n");
    for (const SassInstruction& in : l.functions[0].code) CHECK_FALSE(memory_op(in).has_value());
  }
}

TEST_SUITE("sass: flow") {
  TEST_CASE("sass: loops, conditions and slow paths of diverged warps are found") {
    const Disassembly l = kernel(
        "        /*0000*/  ISETP.GE.AND P0, PT, R5, UR4, PT ;\n"
        "        /*0010*/  @P0 EXIT ;\n"
        ".L_x_1:\n"
        "        /*0020*/  LDS R2, [R3] ;\n"
        "        /*0030*/  BRA.DIV UR5, `(.L_x_3) ;\n"
        "        /*0040*/  STS [R3], R2 ;\n"
        ".L_x_2:\n"
        "        /*0050*/  @P1 BRA `(.L_x_1) ;\n"
        "        /*0060*/  EXIT ;\n"
        ".L_x_3:\n"
        "        /*0070*/  STS [R3], R2 ;\n"
        "        /*0080*/  BRA `(.L_x_2) ;\n");
    const FlowGraph flow = build_flow_graph(l.functions[0]);
    auto block = [&](int instruction) { return flow.block_of[static_cast<size_t>(instruction)]; };
    CHECK(flow.known);
    CHECK(flow.structure.loop_depth(block(0)) == 0);
    CHECK(flow.structure.loop_depth(block(2)) == 1);
    CHECK(flow.structure.loop_depth(block(4)) == 1);
    CHECK(flow.structure.loop_depth(block(6)) == 0);
    CHECK(flow.slow_path[static_cast<size_t>(block(7))]);
    CHECK_FALSE(flow.slow_path[static_cast<size_t>(block(4))]);
    const auto deciders = flow.structure.all_controlling_branches(block(2));
    CHECK(std::find(deciders.begin(), deciders.end(), block(1)) != deciders.end());
    CHECK(flow.structure.dominates(block(2), block(6)));
    CHECK_FALSE(flow.structure.dominates(block(6), block(2)));
  }

  TEST_CASE("sass: a converged warp always takes BRA.CONV") {
    const Disassembly l = kernel(
        "        /*0000*/  BRA.CONV ~URZ, `(.L_x_1) ;\n"
        "        /*0010*/  CALL.REL.NOINC `($k$sync) ;\n"
        ".L_x_1:\n"
        "        /*0020*/  LDS R2, [R3] ;\n"
        "        /*0030*/  EXIT ;\n");
    const FlowGraph flow = build_flow_graph(l.functions[0]);
    CHECK(flow.slow_path[static_cast<size_t>(flow.block_of[1])]);
    CHECK_FALSE(flow.slow_path[static_cast<size_t>(flow.block_of[2])]);
  }

  TEST_CASE("sass: a jump table needs the list of its targets") {
    const std::string rest =
        ".L_x_1:\n        /*0010*/  EXIT ;\n.L_x_2:\n        /*0020*/  EXIT ;\n";
    CHECK(build_flow_graph(
              kernel("        /*0000*/  BRX R8 -0x10   (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*);\n" +
                     rest)
                  .functions[0])
              .known);
    CHECK_FALSE(
        build_flow_graph(kernel("        /*0000*/  BRX R8 -0x10 ;\n" + rest).functions[0]).known);
  }
}

TEST_SUITE("sass: placement of accesses") {
  TEST_CASE("sass: for four words with the instruction on the second only one placement fits") {
    const auto p = find_sass_offsets_and_shapes(
        {member(0, {}), member(4, {kQuad}), member(8, {}), member(12, {})}, {});
    REQUIRE(p.has_value());
    CHECK((*p)[1].at == 0);
    CHECK((*p)[1].shape == 0);
    CHECK((*p)[0].shape == -1);
  }

  TEST_CASE("sass: sixteen words are covered by four instructions") {
    std::vector<UnplacedPtxAccess> members;
    for (int k = 0; k < 16; ++k)
      members.push_back(member(4 * k, k % 4 == 1 ? std::vector<sass::SassAccessRanges>{kQuad}
                                                 : std::vector<sass::SassAccessRanges>{}));
    const auto p = find_sass_offsets_and_shapes(members, {});
    REQUIRE(p.has_value());
    for (size_t k = 1; k < 16; k += 4) CHECK((*p)[k].at == static_cast<int64_t>(4 * k) - 4);
  }

  TEST_CASE("sass: an instruction whose bytes no access needs is refused") {
    CHECK_FALSE(find_sass_offsets_and_shapes({member(0, {kQuad})}, {}).has_value());
    CHECK_FALSE(
        find_sass_offsets_and_shapes({member(0, {kQuad}), member(4, {}), member(12, {})}, {})
            .has_value());
  }

  TEST_CASE(
      "sass: a word that no instruction covers is refused unless something else explains it") {
    std::vector<UnplacedPtxAccess> members{member(0, {kWord}), member(4, {})};
    CHECK_FALSE(find_sass_offsets_and_shapes(members, {}).has_value());
    members[1].must_be_covered = false;
    CHECK(find_sass_offsets_and_shapes(members, {}).has_value());
  }

  TEST_CASE("sass: two possible placements are refused unless a known distance decides") {
    // Three accesses without instructions between two two-word instructions: it is not known which
    // one has the middle access.
    std::vector<UnplacedPtxAccess> members{member(0, {}), member(4, {kDouble}), member(8, {}),
                                           member(12, {kDouble}), member(16, {})};
    for (size_t k : {size_t{0}, size_t{2}, size_t{4}}) members[k].must_be_covered = false;
    CHECK_FALSE(find_sass_offsets_and_shapes(members, {}).has_value());
    members[2].must_be_covered = true;
    members[0].must_be_covered = true;
    members[4].must_be_covered = false;
    const auto p = find_sass_offsets_and_shapes(members, {{1, 3, 8}});
    REQUIRE(p.has_value());
    CHECK((*p)[1].at == 0);
    CHECK((*p)[3].at == 8);
  }

  TEST_CASE("sass: a vector whose middle is not read becomes two words") {
    UnplacedPtxAccess v = member(0, {sass::SassAccessRanges{{0, 4}, {12, 4}}}, 16);
    for (size_t b = 4; b < 12; ++b) v.live[b] = false;
    const auto p = find_sass_offsets_and_shapes({v}, {});
    REQUIRE(p.has_value());
    CHECK((*p)[0].at == 0);
    v.shapes = {kQuad};  // all four words may be loaded, too
    CHECK(find_sass_offsets_and_shapes({v}, {}).has_value());
    v.shapes = {kWord};  // but half of the words that are read is not enough
    CHECK_FALSE(find_sass_offsets_and_shapes({v}, {}).has_value());
  }

  TEST_CASE("sass: a load of only the last word of a vector is reconciled") {
    UnplacedPtxAccess v = member(32, {kWord}, 16);
    for (size_t b = 0; b < 12; ++b) v.live[b] = false;
    const auto p = find_sass_offsets_and_shapes({v}, {});
    REQUIRE(p.has_value());
    CHECK((*p)[0].at == 44);
  }
}
