// What a lab's suite includes. See checks/coalescing/build.cpp for one, README.md for what it says.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "base/error.h"
#include "grading/arrays.h"
#include "grading/compare.h"
#include "grading/describe.h"
#include "grading/given.h"
#include "grading/given_time.h"
#include "grading/launch.h"
#include "grading/names.h"
#include "grading/registry.h"
#include "grading/session.h"
#include "grading/verdict.h"
