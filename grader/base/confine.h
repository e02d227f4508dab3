// What a child process may reach, closed off by the kernel for good: files by Landlock, sockets and
// other processes by seccomp. Needs no privilege, no namespace and no other program.
#pragma once

#include <string>
#include <vector>

#include "base/child.h"

namespace lab32 {

// What this kernel, and whoever set limits to this process, lets a process give up.
struct Confinable {
  int landlock = 0;      // version of its interface; 0: there is none
  bool seccomp = false;  // filters
};
const Confinable& confinable();

class Confinement {
 public:
  struct Paths {
    std::vector<std::string> read;   // and execute: files, or directories with all below
    std::vector<std::string> write;  // and read
  };
  // Paths that are not there are left out. Without Landlock, files are not closed off. Throws
  // MachineError.
  explicit Confinement(const Paths& paths);
  // seccomp only.
  enum class Files { open };
  explicit Confinement(Files) {}

  // In the child, before exec: for itself and all that it starts. 0, or why not.
  int enter() const;

 private:
  Descriptor ruleset_;
};

}  // namespace lab32
