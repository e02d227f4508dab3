// Linked where all suites are. `make grade LAB=shuffle` links its own, and not this.

#include "grading/engine/registry.h"

namespace lab32::checks {
namespace {

[[maybe_unused]] const bool kAll = (grading::all_suites_linked() = true);

}  // namespace
}  // namespace lab32::checks
