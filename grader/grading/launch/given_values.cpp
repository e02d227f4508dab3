#include "grading/launch/given_values.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/text.h"
#include "device/device.h"
#include "device/fault_text.h"
#include "grading/engine/compiled.h"
#include "grading/launch/given.h"
#include "toolchain/nvcc.h"

namespace lab32::grading {
namespace {

toolchain::Artifact with_kernel(const std::string& lab, const std::filesystem::path& file,
                                const std::string& arch, const std::string& kernel) {
  const std::string display = visible_name(file.string());
  return compiled(lab, toolchain::read_submission(file, display), arch, display,
                  fmt::format("namespace lab32_given {{\n"
                              "template __global__ void {}(const unsigned*, unsigned*, int);\n}}\n",
                              kernel));
}

}  // namespace

std::vector<uint32_t> given_values(const std::string& lab, const std::filesystem::path& file,
                                   const std::string& device, const std::string& kernel,
                                   const std::vector<uint32_t>& in) {
  constexpr uint32_t kBlock = 256;
  const auto on = device::open_device(device);
  const auto module = on->load(with_kernel(lab, file, on->arch(), kernel));
  device::Kernel* found = module->find(given(kernel, *module));
  if (!found) throw Error(visible_name(file.string()) + " has no " + kernel);
  const auto n = static_cast<uint32_t>(in.size());
  const device::Buffer from = on->allocate(n * sizeof(uint32_t), "in"),
                       to = on->allocate(n * sizeof(uint32_t), "out");
  on->upload(from, in.data(), from.bytes);
  const device::Run run =
      on->launch(*found, {{(n + kBlock - 1) / kBlock}, {kBlock}}, {from, to, static_cast<int>(n)});
  if (run.fault)
    throw Error(fmt::format("{} does not end well: {}", kernel, device::describe(*run.fault)));
  std::vector<uint32_t> out(n);
  on->download(out.data(), to, to.bytes);
  return out;
}

}  // namespace lab32::grading
