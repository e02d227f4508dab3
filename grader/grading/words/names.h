// Lets the suites in labs/ use the harness' names without its namespace.
#pragma once

namespace lab32::grading {
struct Check;
}
namespace lab32::checks {
using namespace grading;
}
