#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "device/run_text.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/progress.h"
#include "grading/launch/arrays.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/launch/launch_pictures.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"
#include "simulator/observers/races/finding.h"

namespace lab32::grading {

namespace {

// The instructions of a warp in a launch of a part of a block.
constexpr uint64_t kMostOfPart = 1'000'000;

// A fault inside a toolkit header has a line number, too, but not one of the student's file.
int line_if_in_submission(Check& check, const std::string& file, int line) {
  return file.empty() || file == check.session.source.display() ? line : 0;
}

// How to fix each kind of fault. The message of the fault itself says where it happened.
const char* advice_for_trap(sim::TrapKind kind) {
  switch (kind) {
    case sim::TrapKind::out_of_bounds:
      return "Compare the index with the size of the array before the access.";
    case sim::TrapKind::uninitialised:
      return "Write the value on every path before the kernel reads it.";
    case sim::TrapKind::barrier:
      return "Every thread of the block that has not exited must reach the same "
             "__syncthreads(): put no barrier inside an `if` or a loop that only some "
             "threads take.";
    case sim::TrapKind::shuffle:
      return "Every lane that the mask names must reach the shuffle: put it before the `if` or "
             "`return` that splits the warp, and let lanes without a value pass a neutral one.";
    case sim::TrapKind::instruction_limit:
    case sim::TrapKind::time_limit:
    case sim::TrapKind::deadlock:
      return "Does the loop's condition ever become false for every thread?";
    default:
      return "";
  }
}

using Index3 = std::array<uint32_t, 3>;

std::vector<uint32_t> listed(const Index3& index) { return {index.begin(), index.end()}; }

CheckFailureReason::FaultOrHazardAccess access_of(const sim::TrapFacts& trap) {
  CheckFailureReason::FaultOrHazardAccess access;
  if (trap.thread) {
    access.block = listed(trap.thread->block);
    access.thread = listed(trap.thread->thread);
  }
  if (trap.access) {
    access.object = trap.access->object;
    access.offset = trap.access->offset;
    access.bytes = trap.access->bytes;
    const auto element = static_cast<int64_t>(trap.access->element);
    if (element > 0 && trap.access->offset >= 0) access.element = *access.offset / element;
  }
  return access;
}

const char* name_of(counters::Finding::Kind kind) {
  using Kind = counters::Finding::Kind;
  switch (kind) {
    case Kind::race:
      return "race";
    case Kind::uninitialised:
      return "uninitialised";
    case Kind::warp_mask:
      return "warp mask";
    case Kind::memory:
      return "memory";
    case Kind::barrier:
      return "barrier";
  }
  return "";
}

const char* finding_table_word(counters::Finding::Kind kind) {
  using Kind = counters::Finding::Kind;
  switch (kind) {
    case Kind::race:
      return "race";
    case Kind::uninitialised:
      return "unwritten value";
    case Kind::warp_mask:
      return "missing lane";
    case Kind::memory:
      return "bad access";
    case Kind::barrier:
      return "missed barrier";
  }
  return "";
}

CheckFailureReason::FaultOrHazardAccess access_of(const counters::Finding& finding) {
  if (finding.fault) return access_of(*finding.fault);
  CheckFailureReason::FaultOrHazardAccess access;
  access.block = listed(finding.block);
  access.thread = listed(finding.party.thread);
  access.object = finding.object;
  access.element = finding.element;
  access.offset = static_cast<int64_t>(finding.offset);
  access.bytes = finding.party.bytes;
  if (finding.kind != counters::Finding::Kind::race) return access;
  access.other_line = finding.other_line;
  access.other_block = listed(finding.global ? finding.other_block : finding.block);
  access.other_thread = listed(finding.other.thread);
  return access;
}

// The size of an element of the check's array of that name, in bytes; 0: the check has no such
// array.
uint32_t element_bytes_of_check_array(Check& check, const std::string& array) {
  for (const DeviceArray* memory : check.arrays)
    if (memory->name() == array) return memory->element_bytes();
  return 0;
}

void limit_to_remaining_budget(Check& check, device::LaunchOptions& options) {
  const GradingSession& s = check.session;
  s.spending.limit_launch(check.row.check, options);
  options.seconds = std::clamp(s.time_limit.seconds_left(), 1e-3, options.seconds);
}

// Loses the check if the lab's time is used up, although that says nothing about the kernels of
// this check.
void lose_check_if_lab_time_used_up(Check& check) {
  const GradingSession& s = check.session;
  if (!s.time_limit.used_up()) return;
  if (check.verdict.lost) throw TestOver{};  // the message has the reason
  check.measured("not run");
  check.fail_and_throw(s.time_limit.failure());
}

void check_fault(Check& check, const device::LaunchResult& run, const std::string& setting) {
  if (!run.fault) return;
  if (exceeds_launch_limit(*run.fault)) lose_check_if_lab_time_used_up(check);
  device::KernelFault f = *run.fault;
  if (f.trap && f.trap->access)
    f.trap->access->element = element_bytes_of_check_array(check, f.trap->access->object);
  const std::string what = words(f.kind);
  check.measured(what);
  std::string message = prefix(setting) + what + ": " + describe(f);
  const std::string fix = advice_for_trap(f.kind);
  if (!fix.empty()) message += "\n" + fix;
  CheckFailureReason failure{CheckFailureReason::Kind::fault, setting, "", to_string(f.kind)};
  if (f.trap) failure.access = access_of(*f.trap);
  check.fail_and_throw(failure, line_if_in_submission(check, f.file, f.line), message);
}

void check_hazards(Check& check, const device::LaunchResult& run, const std::string& setting) {
  if (!run.hazards) return;
  const counters::Finding* first = nullptr;
  size_t others = 0;
  for (const counters::Finding& finding : *run.hazards) {
    if (finding.note) continue;
    if (first)
      ++others;
    else
      first = &finding;
  }
  if (!first) return;
  check.measured(finding_table_word(first->kind));
  std::string message = prefix(setting) + describe(*first);
  if (others > 0)
    message += fmt::format("\n{} more finding{} elsewhere.", others, others == 1 ? "" : "s");
  CheckFailureReason failure{CheckFailureReason::Kind::hazard, setting, "", name_of(first->kind)};
  failure.access = access_of(*first);
  check.fail_and_throw(failure, line_if_in_submission(check, first->file, first->line), message);
}

void check_inputs_unchanged(Check& check, const std::string& setting) {
  for (const DeviceArray* memory : check.arrays) {
    const ptrdiff_t i = memory->first_changed_input_element();
    if (i < 0) continue;
    check.measured("changed " + memory->name());
    CheckFailureReason failure{CheckFailureReason::Kind::changed_input, setting, memory->name()};
    failure.index = static_cast<uint64_t>(i);
    check.fail_and_throw(failure);
  }
}

// The submission's kernels, for a message: the student may have renamed one.
std::string kernel_names_text(Check& check) {
  std::string names;
  for (const std::string& name : check.session.module.kernel_names())
    if (!is_given_kernel(name)) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

// Finds the kernel of the launch. Loses the check if there is none.
device::Kernel& find_kernel(Check& check, const Launch& launch) {
  GradingSession& s = check.session;
  device::Kernel* kernel = s.module.find(launch.kernel);
  if (!kernel)
    check.fail_and_throw(
        {CheckFailureReason::Kind::missing, launch.setting, launch.kernel}, 0,
        fmt::format("The file has no kernel `{}` (it has {}). Keep the names and parameters "
                    "of the given kernels.",
                    launch.kernel, kernel_names_text(check)));
  lose_check_if_lab_time_used_up(check);
  if (s.spending.used_up(check.row.check)) {
    const char* kind = to_string(sim::TrapKind::time_limit);
    check.measured("runs too long");
    check.fail_and_throw({CheckFailureReason::Kind::fault, launch.setting, launch.kernel, kind}, 0,
                         s.spending.exhausted_limit_text(check.row.check));
  }
  check.launched.clear();
  for (const DeviceArray* m : check.arrays)
    check.launched.push_back(
        {m->name(), m->buffer().address, m->buffer().bytes, m->element_bytes()});
  return *kernel;
}

}  // namespace

device::LaunchResult run(Check& check, const Launch& launch) {
  GradingSession& s = check.session;
  const ProgressReporter::ScopedStep step(s.setup.progress, "running " + launch.kernel);
  device::Kernel& kernel = find_kernel(check, launch);
  check_parameters(check, kernel.info(), launch.args, launch.setting);
  device::LaunchOptions options;
  options.model = launch.model;
  check.trial.prepare_launch_options(
      launch.shape, launch.try_other_order && check.row.credit == Credit::all, options);
  limit_to_remaining_budget(check, options);
  request_picture_details(check, launch, options);
  LaunchHooks* const watcher = is_given_kernel(launch.kernel) ? nullptr : s.setup.watcher;
  const bool watched =
      watcher && watcher->wants_snapshot_before_launch(check, launch, kernel, options);
  // Other launches of the check count the same work.
  const bool measures_need = check.sharing_launch && check.row.has("min_working_share");
  const auto before =
      watched || measures_need || check.trial.wants_trial() ? check.device().save() : nullptr;
  const WorkTimer watch;
  device::LaunchResult result = check.device().launch(kernel, launch.shape, launch.args, options);
  // A launch that was stopped may leave values in `__device__` variables that a later check must
  // not find.
  if (result.fault) s.module.reset_module_variables();
  s.spending.add(check.row.check, result.warp_instructions.value_or(0),
                 watch.min_of_wall_and_cpu_seconds());
  if (!result.output.empty()) check.printed = printf_output_text(launch.setting, result.output);
  keep_launch_pictures(check, launch, result);
  if (result.out_of_range_shift_or_shuffle && check.undefined_amount.empty())
    check.undefined_amount = undefined_amount_text(check, *result.out_of_range_shift_or_shuffle);
  check_fault(check, result, launch.setting);
  check_hazards(check, result, launch.setting);
  check_inputs_unchanged(check, launch.setting);
  if (before && measures_need)
    result.needed_thread_share = measure_needed_thread_share(check, kernel, launch, *before);
  if (watcher)
    watcher->after_clean_launch(check, launch, kernel, result, watched ? before.get() : nullptr);
  if (before && check.trial.wants_trial()) {
    const WorkTimer again;
    device::LaunchOptions limits;
    limit_to_remaining_budget(check, limits);
    check.trial.rerun_in_random_order(check.device(), kernel, launch.shape, launch.args, *before,
                                      limits);
    s.spending.add(check.row.check, result.warp_instructions.value_or(0),
                   again.min_of_wall_and_cpu_seconds());
  }
  return result;
}

device::LaunchResult run_to_count(Check& check, const Launch& launch) {
  GradingSession& s = check.session;
  const ProgressReporter::ScopedStep step(s.setup.progress, "running " + launch.kernel);
  device::LaunchOptions options;
  options.model = launch.model;
  options.check_hazards = options.trap_uninitialised = false;
  limit_to_remaining_budget(check, options);
  if (launch.pictures_of_given) request_picture_details(check, launch, options);
  const WorkTimer watch;
  device::LaunchResult result =
      check.device().launch(find_kernel(check, launch), launch.shape, launch.args, options);
  if (result.fault) s.module.reset_module_variables();
  s.spending.add(check.row.check, result.warp_instructions.value_or(0),
                 watch.min_of_wall_and_cpu_seconds());
  if (launch.pictures_of_given) keep_launch_pictures(check, launch, result);
  check_fault(check, result, launch.setting);
  return result;
}

void end_if_repetition_done(Check& check) {
  if (check.trial.repeated_launch_done()) throw TestOver{};
}

bool is_faultless_in_fresh_module(Check& check, const Launch& launch) {
  GradingSession& s = check.session;
  // In a repetition the order or the loads are the reason, and not an earlier launch.
  if (!s.artifact || check.trial.repeating()) return false;
  const std::unique_ptr<device::LoadedModule> module = check.device().load(*s.artifact);
  device::Kernel* kernel = module->find(launch.kernel);
  return kernel && !s.spending.used_up(check.row.check) &&
         !launch_without_verdict(check, *kernel, launch.shape, launch.args).fault;
}

device::LaunchResult launch_without_verdict(Check& check, device::Kernel& kernel,
                                            const device::LaunchShape& shape,
                                            const std::vector<device::KernelArgument>& args,
                                            uint64_t most) {
  device::LaunchOptions limits;
  limits.warp_budget = most;
  limit_to_remaining_budget(check, limits);
  return check.device().launch(kernel, shape, args, limits);
}

device::LaunchResult launch_without_verdict(Check& check, device::Kernel& kernel,
                                            const Launch& launch, const PartialBlockLaunch& part) {
  device::LaunchOptions options;
  options.check_hazards = options.count = false;
  options.part = part;
  limit_to_remaining_budget(check, options);
  // A block that waits for the others would poll to the limit.
  options.warp_budget = std::min<uint64_t>(options.warp_budget, kMostOfPart);
  return check.device().launch(kernel, launch.shape, launch.args, options);
}

bool has_hazard_finding(const device::LaunchResult& run) {
  return run.hazards && std::any_of(run.hazards->begin(), run.hazards->end(),
                                    [](const counters::Finding& found) { return !found.note; });
}

namespace {

// The array whose address the argument is; nullptr: it is no array of the check.
const DeviceArray* array_of_argument(Check& check, const device::KernelArgument& arg) {
  uint64_t address = 0;
  if (arg.bytes().size() != sizeof address) return nullptr;
  std::memcpy(&address, arg.bytes().data(), sizeof address);
  for (const DeviceArray* memory : check.arrays)
    if (memory->buffer().address == address) return memory;
  return nullptr;
}

bool is_pointer(const std::string& type) { return !type.empty() && type.back() == '*'; }
bool is_east_const_pointer(const std::string& type) {
  return RegularExpression(" const\\*$").search(type).has_value();
}

std::string type_with_leading_const(const std::string& type) {
  return RegularExpression("^(.*) const\\*$").replace(type, "const $1*");
}

}  // namespace

void check_parameters(Check& check, const device::KernelInfo& kernel,
                      const std::vector<device::KernelArgument>& args, const std::string& setting) {
  const auto& types = kernel.parameter_types;
  if (types.empty()) return;
  bool other_kind = types.size() != args.size(), in_is_written = false, out_is_const = false;
  std::vector<std::string> takes, given;
  for (const std::string& type : types) takes.push_back(type_with_leading_const(type));
  for (size_t i = 0; i < args.size(); ++i) {
    const device::KernelArgument& arg = args[i];
    const DeviceArray* array = array_of_argument(check, arg);
    given.push_back(array ? array->name() : fmt::format("{} bytes", arg.bytes().size()));
    if (i >= types.size()) continue;
    if (array) other_kind |= !is_pointer(types[i]);
    if (arg.bytes().size() < sizeof(uint64_t)) other_kind |= is_pointer(types[i]);
    if (array && !array->read_only()) out_is_const |= is_east_const_pointer(types[i]);
    if (array && array->read_only())
      in_is_written |= is_pointer(types[i]) && !is_east_const_pointer(types[i]);
  }
  if (!other_kind && !(in_is_written && out_is_const)) return;
  check.measured("other parameters");
  check.fail_and_throw(
      {report::CheckFailureReason::Kind::missing, setting, kernel.name}, 0,
      fmt::format("`{}` takes ({}), but the grader calls it with ({}). Keep the parameters "
                  "of the given kernels and their order.",
                  kernel.name, fmt::join(takes, ", "), fmt::join(given, ", ")));
}

std::shared_ptr<const device::LaunchResult> reused_launch(
    Check& check, const std::string& key, const std::string& kernel,
    const std::function<device::LaunchResult()>& make) {
  GradingSession& s = check.session;
  if (check.trial.repeating()) return std::make_shared<const device::LaunchResult>(make());
  if (const auto known = s.shared_launches.find(key); known != s.shared_launches.end()) {
    s.module.find(kernel);
    check.launched = known->second.launched;
    keep_pictures_if_more_wasteful(check, known->second.pictures);
    return known->second.run;
  }
  check.sharing_launch = true;
  const auto run = std::make_shared<const device::LaunchResult>(make());
  check.sharing_launch = false;
  s.shared_launches[key] = {run, check.launched, check.last_pictures};
  return run;
}

}  // namespace lab32::grading
