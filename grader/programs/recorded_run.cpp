#include "programs/recorded_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "model/profile.h"
#include "programs/build_program.h"
#include "programs/start.h"

namespace lab32::programs {
namespace {

class TemporaryFile {
 public:
  TemporaryFile()
      : path_((std::filesystem::temp_directory_path() / "lab32-record-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0)
      throw Error("no temporary file can be made (" + path_ + ": " + std::strerror(errno) +
                  "); set TMPDIR to a directory that can be written");
    close(fd);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string ending(int status) {
  if (status <= 128 || !sigabbrev_np(status - 128))
    return fmt::format("the program's own exit status: {}", status);
  return fmt::format("the program was killed by SIG{} ({}){}", sigabbrev_np(status - 128),
                     sigdescr_np(status - 128),
                     status - 128 == SIGSEGV ? "; host code that touches device memory is" : "");
}

RecordedRun run_recorded(const std::string& file, const std::string& device,
                         const std::vector<std::string>& arguments, const std::string& tool) {
  const TemporaryFile record;
  Start start;
  start.device = profile_of(device);
  start.program = build_program(file, model::read_profile(start.device).arch);
  start.called = file;
  start.arguments = arguments;
  start.tool = tool;
  start.record = record.path();
  RecordedRun run;
  run.status = run_and_wait(start);
  std::ifstream in(record.path());
  run.recording = report::read_recording(in, record.path());
  // What was compiled here lies in the cache under another name than the user's.
  const std::filesystem::path given(file);
  if (given.extension() == ".cu")
    for (report::LaunchRecord& launch : run.recording.launches)
      launch.process_name = given.stem().string();
  return run;
}

}  // namespace lab32::programs
