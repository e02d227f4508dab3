// verdict: lab | error | "#include __FILE__"
// Includes itself without end.
#include __FILE__

LAB32_ANSWER(v1_lanes, 1);
