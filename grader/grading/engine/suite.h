// Everything that a lab's suite of checks includes. labs/coalescing/build.cpp is an example, and
// grading/README.md explains it.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "base/error.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/registry.h"
#include "grading/launch/arrays.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/timing/given_time.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"
