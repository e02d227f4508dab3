// For the rubric that students get: its answers, hashed.
#pragma once

#include <string>

#include "grading/rubric/rubric.h"

namespace lab32::grading {

// A line "TABLE QUESTION HASH" for each question of the lab.
std::string sealed_answers(const Rubric& rubric);

}  // namespace lab32::grading
