// The counting rules, compared with the hardware: every access pattern that was measured with
// Nsight Compute (data/measured/counters) must give the same counts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "simulator/observers/traffic/banks.h"
#include "simulator/observers/traffic/sectors.h"

using namespace lab32;

namespace {

struct MeasuredPattern {
  std::string op;
  uint32_t bytes = 4;
  uint32_t mask = 0;
  std::array<uint64_t, 32> address{};
  std::map<std::string, uint32_t> measured;
};

uint32_t bytes_of(const std::string& op) {
  if (op.find("matrix") != std::string::npos) return 16;
  if (op.find("_v4f32") != std::string::npos || op.find("_v4f16x2") != std::string::npos) return 16;
  if (op.find("_v2f32") != std::string::npos || op.find("_v2f16x2") != std::string::npos) return 8;
  if (op.find("64") != std::string::npos) return 8;
  for (uint32_t bytes : {16, 8, 4, 2, 1}) {
    if (op == fmt::format("{}{}", op.substr(0, 4), bytes)) return bytes;
  }
  return 4;
}

std::vector<MeasuredPattern> read_patterns(const std::string& name) {
  std::vector<MeasuredPattern> patterns;
  for (const TableRow& row :
       read_csv_table((lab32_root() / "data/measured/counters/").string() + name)) {
    MeasuredPattern& p = patterns.emplace_back();
    p.op = row.at("op");
    p.bytes = bytes_of(p.op);
    p.mask = static_cast<uint32_t>(std::stoul(row.at("mask"), nullptr, 16));
    std::istringstream offsets(row.at("offsets"));
    for (uint64_t& a : p.address) offsets >> a;
    REQUIRE(!offsets.fail());
    for (const auto& [column, cell] : row)
      if (column != "op" && column != "mask" && column != "offsets")
        p.measured[column] = static_cast<uint32_t>(std::stoul(cell));
  }
  return patterns;
}

bool has(const MeasuredPattern& p, const char* part) {
  return p.op.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("counters: measured: the sectors of every global access pattern equal an H200's") {
  std::vector<MeasuredPattern> patterns = read_patterns("h200-global.csv");
  CHECK(patterns.size() == 523);
  // Updates of several elements per lane.
  for (const MeasuredPattern& p : read_patterns("h200-vectors-global.csv"))
    if (!has(p, "both")) patterns.push_back(p);
  CHECK(patterns.size() == 523 + 354);
  for (const MeasuredPattern& p : patterns) {
    INFO(p.op << " mask " << p.mask << " from " << p.address[0] << ", " << p.address[1]);
    const uint32_t distinct = counters::distinct_sectors(p.address.data(), p.bytes, p.mask);
    const bool atomic = has(p, "_red_") || has(p, "_atom_");
    CHECK(p.measured.at("requests") == 1);
    CHECK((atomic ? counters::atomic_sectors(p.address.data(), p.bytes, p.mask, has(p, "_cas_"))
                  : distinct) == p.measured.at("sectors"));
    CHECK(distinct == p.measured.at("theoretical"));
    CHECK(counters::ideal_sectors(distinct, p.bytes, p.mask) == p.measured.at("ideal"));
  }
}

TEST_CASE("counters: measured: the wavefronts of every shared access pattern equal an H200's") {
  const std::vector<MeasuredPattern> patterns = read_patterns("h200-shared.csv");
  CHECK(patterns.size() == 549);
  int estimated_otherwise = 0, ideal_otherwise = 0;
  for (const MeasuredPattern& p : patterns) {
    INFO(p.op << " mask " << p.mask << " from " << p.address[0] << ", " << p.address[1]);
    sim::IssuedWarpAccess access{};
    access.space = sim::AccessSpace::shared;
    access.kind = has(p, "atom") || has(p, "_red_") ? sim::AccessKind::atom
                  : has(p, "_st")                   ? sim::AccessKind::store
                                                    : sim::AccessKind::load;
    // ptxas compiles s_atom_inc_u32 to ATOMS.ADD, since its result is used.
    access.form =
        has(p, "_cas_") ? sim::SharedAtomicForm::compare_swap : sim::SharedAtomicForm::plain;
    access.matrix = has(p, "matrix");
    access.bytes = static_cast<uint8_t>(p.bytes);
    access.mask = p.mask;
    access.address = p.address.data();
    const counters::Wavefronts w = counters::shared_wavefronts(access);
    CHECK(w.actual == p.measured.at("hardware"));
    if (w.actual != p.measured.at("wavefronts")) ++estimated_otherwise;
    if (w.ideal != p.measured.at("ideal")) ++ideal_otherwise;
    const bool may_merge = has(p, "_ld8") || has(p, "_ld16");
    if (may_merge) continue;
    CHECK(w.actual == p.measured.at("wavefronts"));
    CHECK(w.ideal == p.measured.at("ideal"));
  }
  // Nsight Compute's estimate differs from the hardware in the rule for merging phases: it does not
  // merge phases that would conflict, nor some partly active warps whose lanes do not agree.
  CHECK(estimated_otherwise == 11);
  CHECK(ideal_otherwise == 8);
}
