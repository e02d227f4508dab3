#include "model_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/error.h"
#include "compile/nvcc.h"

namespace lab32::tests {
namespace {

uint32_t count_of(const Row& row, const std::string& column) {
  return static_cast<uint32_t>(number(row, column));
}

// Every figure of a Simulated, with the name of its column.
template <class S, class Visit>
void each_figure(S& s, Visit visit) {
  auto& w = s.work;
#define FIGURE(field) visit(#field, w.field)
  FIGURE(issue.all);
  FIGURE(issue.fp32);
  FIGURE(issue.alu);
  FIGURE(issue.multiply);
  FIGURE(issue.half);
  FIGURE(issue.fp64);
  FIGURE(issue.special);
  FIGURE(issue.memory);
  FIGURE(global_rounds);
  FIGURE(shared_rounds);
  FIGURE(chain_cycles);
  FIGURE(barriers);
  FIGURE(shared_wavefronts);
  FIGURE(shared_ideal);
  FIGURE(shared_requests);
  FIGURE(shared_spins);
  FIGURE(global_requests);
  FIGURE(global_loads);
  FIGURE(l1_load_cycles);
  FIGURE(l1_store_cycles);
  FIGURE(l1_hits);
  FIGURE(l2_hits);
  FIGURE(l2_sectors);
  FIGURE(l2_read_lines);
  FIGURE(l2_write_lines);
  FIGURE(l2_fills);
  FIGURE(atomics);
  FIGURE(busiest_slice);
  FIGURE(dram_accesses);
  FIGURE(dram_pages);
  FIGURE(dram_read);
  FIGURE(dram_written);
#undef FIGURE
  visit("l1_percent", s.l1_percent);
  visit("l2_percent", s.l2_percent);
}

}  // namespace

double number(const Row& row, const std::string& column) {
  const auto at = row.find(column);
  if (at == row.end()) throw Error("there is no column `" + column + "`");
  return std::stod(at->second);
}

std::map<int, Row> h200_record(const std::string& kind) {
  std::map<int, Row> rows;
  for (const std::string table : {"model", "labs"})
    for (const Row& row : read_table(LAB32_ROOT "/data/measured/h200-" + table + kind + ".csv"))
      rows[static_cast<int>(number(row, "id"))] = row;
  return rows;
}

std::vector<launches::Launch> read_model_launches() {
  return launches::read_launches(std::string(LAB32_ROOT) + "/data/measured/model/launches.csv");
}

std::vector<SimulatedRow> read_simulated() {
  std::vector<SimulatedRow> rows;
  for (const Row& from : read_table(LAB32_ROOT "/data/measured/model/simulated.csv")) {
    const int id = static_cast<int>(number(from, "id"));
    if (rows.empty() || rows.back().id != id) rows.emplace_back().id = id;
    Simulated& to = from.at("l2") == "warm" ? rows.back().warm : rows.back().cold;
    each_figure(to, [&](const char* name, double& value) { value = number(from, name); });
    model::Work& w = to.work;
    w.warm = from.at("l2") == "warm";
    w.blocks = static_cast<uint64_t>(number(from, "blocks"));
    w.warps_per_block = count_of(from, "warps_per_block");
    w.occupancy.blocks = count_of(from, "resident_blocks");
    w.occupancy.registers = count_of(from, "registers");
    w.occupancy.l1_bytes = count_of(from, "l1_bytes");
  }
  return rows;
}

double difference(const Simulated& a, const Simulated& b) {
  std::vector<double> of_b;
  each_figure(b, [&](const char*, double value) { of_b.push_back(value); });
  double most = 0;
  size_t i = 0;
  each_figure(a, [&](const char*, double value) {
    const double larger = std::max(std::abs(value), std::abs(of_b[i]));
    if (larger > 0) most = std::max(most, std::abs(value - of_b[i]) / larger);
    ++i;
  });
  return most;
}

std::string print_simulated(const std::vector<SimulatedRow>& rows) {
  std::string text = "id,l2,blocks,warps_per_block,resident_blocks,registers,l1_bytes";
  Simulated header;
  each_figure(header, [&](const char* name, double) { text += fmt::format(",{}", name); });
  text += "\n";
  for (const SimulatedRow& row : rows) {
    for (const Simulated* s : {&row.cold, &row.warm}) {
      const model::Work& w = s->work;
      text += fmt::format("{},{},{},{},{},{},{}", row.id, s == &row.warm ? "warm" : "cold",
                          w.blocks, w.warps_per_block, w.occupancy.blocks, w.occupancy.registers,
                          w.occupancy.l1_bytes);
      each_figure(*s, [&](const char*, double value) { text += fmt::format(",{:.6g}", value); });
      text += "\n";
    }
  }
  return text;
}

model::Work scaled(const model::Work& work, double times) {
  Simulated s;
  s.work = work;
  each_figure(s, [&](const char*, double& value) { value *= times; });
  s.work.l1_hits = work.l1_hits;
  s.work.l2_hits = work.l2_hits;
  s.work.blocks = static_cast<uint64_t>(static_cast<double>(work.blocks) * times);
  return s.work;
}

SimulatedRow ModelKernels::count(const launches::Launch& l) {
  auto [artifact, fresh] = artifacts_.try_emplace(l.file);
  if (fresh)
    artifact->second =
        compile::compile(std::string(LAB32_ROOT) + "/" + l.file, profile_.arch, l.file);
  // A device of its own: what the caches hold depends on addresses, and these on what was allocated
  // before.
  const auto device = device::open_device("sim:h200");
  const auto module = device->load(artifact->second);
  device::Kernel* kernel = module->find(l.kernel);
  if (kernel == nullptr) throw Error(l.file + " has no `" + l.kernel + "`");

  std::vector<device::Buffer> buffers;
  std::vector<device::Arg> arguments;
  for (const launches::Argument& argument : launches::read_arguments(l.arguments)) {
    const auto position = static_cast<uint32_t>(arguments.size() + 1);
    if (!argument.is_buffer()) {
      arguments.emplace_back(argument.number());
      continue;
    }
    const std::vector<uint32_t> words = argument.words(position);
    buffers.push_back(device->allocate(words.size() * 4, fmt::format("argument {}", position)));
    device->upload(buffers.back(), words.data(), words.size() * 4);
    arguments.emplace_back(buffers.back());
  }
  SimulatedRow row;
  row.id = l.id;
  for (const bool warm : {false, true}) {
    device::LaunchOptions options;
    options.check_hazards = false;
    options.model = warm ? device::LaunchOptions::Model::warm : device::LaunchOptions::Model::cold;
    const device::Shape shape{{l.grid_x, l.grid_y}, {l.block_x, l.block_y}, l.shared};
    const device::Run run = device->launch(*kernel, shape, arguments, options);
    if (run.fault) throw Error(l.kernel + ": " + run.fault->message);
    (warm ? row.warm : row.cold) = {*run.work, run.caches->l1.percent(), run.caches->l2.percent()};
  }
  return row;
}

}  // namespace lab32::tests
