// The checks that all labs share. They compare results at many sizes, and give points for the
// traffic of global memory (sectors and requests) and of shared memory (wavefronts), in proportion
// to what the task needs. Counts are checked again at a size that depends on the seed, so that a
// submission cannot be tuned to the published size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "grading/words/describe.h"

namespace lab32::grading {

struct Check;

// The numbers of elements at which results are checked: the rubric's `sizes`, which students can
// read, then five random ones, one for each remainder modulo 4 and one of many blocks.
std::vector<uint32_t> sizes_to_check(Check& check);
// The relative tolerance of the check's rubric row.
double relative_tolerance(Check& check);

// Loses the check if `mismatch`, from mismatch() in arrays.h, is not empty. `line`: the line of the
// student's file to quote.
void check_result(Check& check, const std::string& setting, int line, const std::string& mismatch);

// Writes "right" into both columns of the score report.
void report_right_result(Check& check);

// Gives points only for work that enough threads share. working_share of the run is the average
// share of threads that work while the busiest warp works. If it is below the rubric's
// `min_working_share`, the points shrink in proportion. Without this a serial sum would win the
// checks of wavefronts, barriers and adds.
void reduce_points_for_idle_threads(Check& check, const device::LaunchResult& run);

// Gives points for the sectors that loads, stores and reductions move, in proportion to ideal /
// moved, where `ideal` is the number that the task needs. The message explains `reason`, if the
// check knows one, or else the worst access; and then `idea`.
void credit_sectors(Check& check, const device::LaunchResult& run, double ideal,
                    const std::string& idea, const ExplainedLine& reason = {});

// Makes a further launch, whose texts the score report does not show: its row stays as it is unless
// this launch loses the check.
device::LaunchResult launch_without_changing_report_row(
    Check& check, const std::function<device::LaunchResult()>& launch);

// A size for a second count, which depends on the seed: a multiple of `unit` in the rubric's range
// `drawn`. `share`: the factor from the limit at the published size, which the rubric's `key`
// names, to the limit at this size. It allows the last block to cost as much as one with `full`
// elements.
struct SecretSize {
  uint32_t n;
  double limit_scale;
};
SecretSize secret_size(Check& check, uint32_t multiple_of, uint32_t full_block_elements,
                       const std::string& published_size_key = "n");

// Compares a count at a secret size with its limit. The smaller of the two shares counts: that at
// the published size, and limit / got here, where one percent more is allowed. `what`: the unit of
// the count `got`; `where`: the launch, for the message; `waste`: its worst access.
void limit_credit_at_secret_size(Check& check, const std::string& where, const char* what,
                                 double limit, uint64_t got, const ExplainedLine& waste);
// Compares the sectors at a secret size with their limit in the same way.
void limit_credit_by_sectors(Check& check, const std::string& where, double limit,
                             const device::LaunchResult& run);

// For a check that counts something else: a kernel that moves its work to global memory gets points
// in proportion to most / moved. `most`: the sectors that the task needs, atomics included.
void reduce_credit_above_sector_limit(Check& check, const device::LaunchResult& run, double most);

// Gives points for the number of requests, of which accesses of 16 bytes per lane need the fewest.
// Multiplies them by the share of points for sectors, since wider accesses must not be scattered.
// `line`: the line of the kernel in the student's file.
void credit_requests(Check& check, const device::LaunchResult& run, double ideal_sectors,
                     double ideal, int line);

// The line of the student's file whose shared accesses take most wavefronts beyond the ideal, and
// its worst access. line 0: no access has a bank conflict.
ExplainedLine line_of_most_excess_wavefronts(Check& check, const device::LaunchResult& run);

// Gives points for the wavefronts of all shared loads, stores and atomics, in proportion to ideal /
// counted, where `ideal` is the number that the task needs. The message explains the worst access
// and `idea`. `line_to_show`: maps the line of the worst access to the line that the message
// quotes; empty: the same line.
using LineToShow = std::function<int(int line)>;
void credit_wavefronts(Check& check, const device::LaunchResult& run, double ideal,
                       const std::string& idea, const LineToShow& line_to_show = {});

// As above, for wavefronts.
void limit_credit_by_wavefronts(Check& check, const std::string& where, double limit,
                                const device::LaunchResult& run);

// Loses the check if the kernel declares more static shared memory per block than `bytes`.
void require_static_shared_at_most(Check& check, const std::string& kernel, double bytes);

// ---- questions ----

// The questions of a lab. The submission answers with LAB32_ANSWER(question, value); the rubric
// holds the right answers and the hints.

// The value of LAB32_ANSWER(question, value) in the submission; nullopt: the file has no such
// answer.
std::optional<float> submitted_answer(Check& check, const std::string& question);

// The answer as the student typed it, if it is a plain number: a float would show 16777217 as
// 16777216. Otherwise `given`, the value of the expression.
std::string answer_text_in_source(Check& check, const std::string& question, float given);

// Whether all answers of the check `name` are right, or it asks no questions. If so, other checks
// may show details that would answer its questions, even checks that come before it.
bool are_answers_of_check_right(Check& check, const std::string& name);

// Compares the submission's answers with the right ones for all questions of the running check,
// which passes if every answer is right. A question with `options` asks for a ratio, and an answer
// counts as the nearest option. Returns whether all answers were right.
bool judge_answers(Check& check);

}  // namespace lab32::grading
