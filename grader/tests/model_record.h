// The launches that the time model is fitted on and tested with (data/measured/model/launches.csv):
// what a GPU measured, what the simulator counted, and how to count it again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../../data/measured/model/launches.h"
#include "base/table.h"
#include "compile/artifact.h"
#include "device/device.h"
#include "model/profile.h"
#include "model/work.h"

namespace lab32::tests {

using Row = TableRow;
double number(const Row& row, const std::string& column);

// What an H200 measured of these launches, by their id. kind: "" for times, "-counters".
std::map<int, Row> h200_record(const std::string& kind = "");

// Rows of launches.csv; its sets are micro, fit, test and labs.
std::vector<launches::Launch> read_model_launches();

// What the simulator counted of one launch, with an empty L2 or behind an equal launch.
struct Simulated {
  model::Work work;
  double l1_percent = 0, l2_percent = 0;
};

// Rows of data/measured/model/simulated.csv.
struct SimulatedRow {
  int id = 0;
  Simulated cold, warm;
};
std::vector<SimulatedRow> read_simulated();
// The largest relative difference between two figures of one name.
double difference(const Simulated& a, const Simulated& b);
std::string print_simulated(const std::vector<SimulatedRow>& rows);

// The same kernel with `times` as many blocks and as much data, none of it cached before.
model::Work scaled(const model::Work& work, double times);

// Runs launches on sim:h200.
class ModelKernels {
 public:
  SimulatedRow count(const launches::Launch& launch);

 private:
  const model::Profile profile_ = model::read_profile("h200");
  std::map<std::string, compile::Artifact> artifacts_;  // by file
};

}  // namespace lab32::tests
