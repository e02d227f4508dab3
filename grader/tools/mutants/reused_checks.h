// Grades submissions that differ little from a first one: a corpus, or a set of mutants.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/forwarding.h"
#include "grading/engine/progress.h"
#include "grading/engine/runner.h"
#include "grading/timing/given_time.h"

namespace lab32::mutants {

// Grades files of one lab with one seed. The first file is graded completely. In a later file, a
// check that passed in the first one is skipped if everything that it requested from the module
// (kernels, launch shapes, answers) has the same code: the simulator is deterministic, so the check
// would pass again. Its row of the first result is copied.
class CheckReusingGrader {
 public:
  CheckReusingGrader(const std::string& lab, uint64_t seed)
      : rubric_(grading::rubric_folder(), lab), seed_(seed) {}

  report::LabResult grade(const std::filesystem::path& file) {
    // A device never reuses an address, so one device would be full after some hundred gradings.
    WatchedDevice device(*this);
    grading::ProgressReporter progress(false);
    grading::GradingSetup setup{device, seed_, progress};
    setup.modelled_times = false;  // they never change a score
    setup.counts_as_passed = [this](const grading::RubricCheckEntry& row) {
      if (first_) return can_reuse_result(row.check);
      asked_ = &asked_by_[row.check];
      return false;
    };
    code_ = {};
    report::LabResult lab = grading::grade_file(rubric_, file, setup);
    if (first_) return with_reused_rows(lab);
    asked_ = nullptr;
    first_code_ = code_;
    first_ = lab;
    return lab;
  }
  // Whether the last file's code is identical to the first one's.
  bool same_code() const { return code_ == first_code_; }

 private:
  class WatchedModule : public device::ForwardingModule {
   public:
    WatchedModule(CheckReusingGrader& checks, std::unique_ptr<LoadedModule> module)
        : ForwardingModule(std::move(module)), checks_(checks) {}
    device::Kernel* find(const std::string& name) override {
      return note(name), ForwardingModule::find(name);
    }
    std::optional<std::vector<std::byte>> initial_constant(const std::string& name) override {
      return note(name), ForwardingModule::initial_constant(name);
    }
    std::optional<std::vector<std::byte>> read_symbol(const std::string& name) override {
      return note(name), ForwardingModule::read_symbol(name);
    }
    bool write_symbol(const std::string& name, const void* data, uint64_t bytes) override {
      return note(name), ForwardingModule::write_symbol(name, data, bytes);
    }
    std::optional<device::DeviceAddressRange> symbol(const std::string& name) override {
      return note(name), ForwardingModule::symbol(name);
    }

   private:
    void note(const std::string& name) {
      if (checks_.asked_) checks_.asked_->insert(name);
    }

    CheckReusingGrader& checks_;
  };

  class WatchedDevice : public device::ForwardingDevice {
   public:
    explicit WatchedDevice(CheckReusingGrader& checks)
        : ForwardingDevice(device::open_device("sim")), checks_(checks) {}
    std::unique_ptr<device::LoadedModule> load(
        const toolchain::CompiledArtifact& artifact) override {
      // Checks load the file again, also with parts of it removed.
      if (!std::exchange(loaded_, true))
        checks_.code_ = grading::NormalisedKernelTexts(artifact.ptx);
      return std::make_unique<WatchedModule>(checks_, ForwardingDevice::load(artifact));
    }

   private:
    CheckReusingGrader& checks_;
    bool loaded_ = false;
  };

  const report::CheckResult* test_of_first_file(const std::string& check) const {
    for (const report::CheckResult& test : first_->tests)
      if (test.name == check) return &test;
    return nullptr;
  }

  bool can_reuse_result(const std::string& check) const {
    const report::CheckResult* const test = test_of_first_file(check);
    if (!test || test->status != report::Status::passed) return false;
    for (const std::string& name : asked_by_.at(check))
      if (first_code_.code(name) != code_.code(name)) return false;
    return true;
  }

  // Copies the rows of skipped checks from the first file's result.
  report::LabResult with_reused_rows(report::LabResult lab) const {
    if (lab.status == report::Status::error || lab.status == report::Status::not_graded) return lab;
    std::map<std::string, report::CheckResult> run;
    for (report::CheckResult& test : lab.tests) run.emplace(test.name, std::move(test));
    lab.tests.clear();
    lab.score = lab.max_score = 0;
    for (const grading::RubricCheckEntry& row : rubric_.rows()) {
      if (row.credit == grading::Credit::questions) continue;  // no check runs for such a row
      const auto known = run.find(row.check);
      lab.tests.push_back(known == run.end() ? *test_of_first_file(row.check) : known->second);
      if (lab.tests.back().status == report::Status::not_run) continue;
      lab.score = report::add_points(lab.score, lab.tests.back().score);
      lab.max_score = report::add_points(lab.max_score, lab.tests.back().max_score);
    }
    return lab;
  }

  grading::Rubric rubric_;
  uint64_t seed_;
  std::optional<report::LabResult> first_;
  std::map<std::string, std::set<std::string>>
      asked_by_;                            // {check: what it requested}, for the first file
  std::set<std::string>* asked_ = nullptr;  // the entry of the check that is running
  grading::NormalisedKernelTexts first_code_, code_;
};

}  // namespace lab32::mutants
