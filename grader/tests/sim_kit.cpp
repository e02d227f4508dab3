#include "tests/sim_kit.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "compile/nvcc.h"
#include "device/sim_device.h"
#include "observers/hazards.h"
#include "observers/traffic.h"
#include "ptx/parser.h"
#include "tests/opcode_coverage.h"

namespace lab32::tests {

struct Parsed {
  ptx::Module module;
  std::unique_ptr<sim::KernelProgram> program;
  std::vector<std::string> lines;  // of the text
};

namespace {

std::string program_text(const std::string& body, const Setup& setup) {
  return with_header(setup.functions + R"(
.visible .entry test(.param .u64 test_in, .param .u64 test_out, .param .u32 test_n)
{
  .reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .f32 %f<32>; .reg .b64 %d<64>;
  .reg .f64 %e<16>; .reg .b128 %q<4>; .reg .b64 %in, %out, %src, %dst; .reg .b32 %t, %g, %n, %lane;
  ld.param.u64 %in, [test_in];
  ld.param.u64 %out, [test_out];
  ld.param.u32 %n, [test_n];
  mov.u32 %t, %tid.x;
  mov.u32 %g, %ctaid.x;
  mov.u32 %lane, %ntid.x;
  mad.lo.u32 %g, %g, %lane, %t;
  mov.u32 %lane, %laneid;
  mad.wide.u32 %src, %g, 4, %in;
  mad.wide.u32 %dst, %g, 4, %out;
)" + body + "\n}\n");
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The name that the comment on a line gives its instruction; empty: none.
std::string name_on(const std::string& line) {
  const size_t at = line.find("//@");
  return at == std::string::npos ? "" : line.substr(at + 3, line.find_last_not_of(' ') - at - 2);
}

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kKernels = LAB32_ROOT "/grader/tests/sim_kernels.cu";

}  // namespace

std::string with_header(const std::string& text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + text;
}

Outcome run(const std::string& body, const Setup& setup) {
  auto parsed = std::make_shared<Parsed>();
  const std::string text = program_text(body, setup);
  parsed->module = ptx::parse(text);
  parsed->lines = split_lines(text);

  sim::Memory memory(uint64_t{1} << 32);
  const uint64_t threads = setup.grid.count() * setup.block.count();
  std::vector<uint32_t> in = setup.in;
  if (in.empty())
    in = each(std::max<uint64_t>(threads, (setup.in_bytes + 3) / 4), [](uint32_t i) { return i; });
  const uint64_t in_bytes = setup.in_bytes ? setup.in_bytes : in.size() * 4;
  const uint64_t out_words = setup.out_words ? setup.out_words : threads;
  const sim::Allocation* in_memory = memory.allocate(in_bytes, "in");
  sim::Allocation* out_memory = memory.allocate(out_words * 4, "out");
  memory.upload(in_memory->begin, in.data(), in_bytes);
  if (setup.out_written) {
    const std::vector<uint32_t> zeros(out_words, 0);
    memory.upload(out_memory->begin, zeros.data(), out_words * 4);
  }

  sim::Allocation* params = memory.allocate(20, "kernel parameters");
  parsed->program = sim::decode(parsed->module, ptx::require_kernel(parsed->module, "test"), {},
                                params->begin, {});
  const uint64_t pointers[2] = {in_memory->begin, out_memory->begin};
  const uint32_t n = setup.n ? setup.n : static_cast<uint32_t>(threads);
  memory.upload(params->begin, pointers, 16);
  memory.upload(params->begin + 16, &n, 4);
  params->read_only = true;

  sim::LaunchContext launch;
  launch.program = parsed->program.get();
  launch.memory = &memory;
  launch.grid = setup.grid;
  launch.block = setup.block;
  launch.shared_bytes = parsed->program->dynamic_offset + setup.dynamic_shared;
  launch.param_address = params->begin;
  launch.multiprocessors = 132;
  launch.warp_budget = setup.budget;
  launch.keep_going = setup.keep_going;
  launch.trap_uninitialised = setup.trap_uninitialised;
  launch.resident_blocks = setup.resident_blocks;

  const Parsed& text_lines = *parsed;
  // Findings name PTX lines here, there being no other source.
  const observe::PositionOf position = [&text_lines](uint32_t site) {
    return std::optional(observe::Position{"test", text_lines.program->sites[site].ptx->ptx_line});
  };
  observe::TrafficObserver traffic;
  observe::HazardObserver hazards(1, true, parsed->program->shared_in(launch.shared_bytes),
                                  position);
  std::vector<sim::Observer*> observers{&traffic};
  if (setup.hazards) observers.push_back(&hazards);

  sim::LaunchOutcome got = sim::run_grid(launch, observers, setup.threads);
  Outcome outcome;
  outcome.trap = got.trap;
  outcome.bad_access = got.bad_access;
  if (got.trap && got.trap->has_site) {
    const int line = parsed->program->sites[got.trap->site].ptx->ptx_line;
    if (line > 0) outcome.trapped_at = name_on(parsed->lines.at(static_cast<size_t>(line) - 1));
  }
  outcome.output = got.output;
  outcome.longest_warp = got.longest_warp;
  outcome.tally = got.tally;
  outcome.out.resize(out_words);
  memory.download(outcome.out.data(), out_memory->begin, out_words * 4);
  for (uint64_t i = 0; i < out_words; ++i)
    outcome.written.push_back(memory.written(out_memory->begin + 4 * i, 4));
  traffic.add_issues(got.tally);
  outcome.counters = traffic.totals();
  if (setup.hazards) outcome.findings = hazards.findings();
  // A row counts as exercised where it ran, in a program whose results a test then checks.
  for (size_t site = 0; site < got.tally.size(); ++site)
    if (got.tally[site].warps > 0) covered(parsed->program->sites[site].ptx->op->id);
  outcome.parsed = std::move(parsed);
  return outcome;
}

Outcome finish(const std::string& body, const Setup& setup) {
  Outcome outcome = run(body, setup);
  REQUIRE_MESSAGE(!outcome.trap, (outcome.trap ? outcome.trap->message : ""));
  return outcome;
}

Outcome::Count Outcome::at(const std::string& name) const {
  Count count{0, 0};
  bool found = false;
  for (size_t site = 0; site < tally.size(); ++site) {
    const int line = parsed->program->sites[site].ptx->ptx_line;
    if (line == 0 || name_on(parsed->lines.at(static_cast<size_t>(line) - 1)) != name) continue;
    count.warps += tally[site].warps;
    count.lanes += tally[site].lanes;
    found = true;
  }
  if (!found) throw std::logic_error("no instruction is named " + name);
  return count;
}

Simulated::Simulated(const std::string& ptx) : device(device::make_sim_device("h200")) {
  compile::Artifact artifact;
  artifact.ptx = ptx;
  module = device->load(artifact);
}

device::Kernel& Simulated::kernel(const std::string& name) {
  device::Kernel* found = module->find(name);
  REQUIRE_MESSAGE(found, "no kernel ", name);
  return *found;
}

Simulated& compiled_kernels() {
  static Simulated simulated = [] {
    const compile::Artifact artifact = compile::compile(kKernels, "sm_90", "sim_kernels.cu");
    covered(ptx::parse(artifact.ptx));
    return Simulated(artifact.ptx);
  }();
  return simulated;
}

int line_of_kernels(const std::string& marker) {
  static const std::vector<std::string> lines = split_lines(slurp(kKernels));
  for (size_t i = 0; i < lines.size(); ++i)
    if (name_on(lines[i]) == marker) return static_cast<int>(i) + 1;
  throw std::logic_error("sim_kernels.cu has no line " + marker);
}

}  // namespace lab32::tests
