// verdict: lab | error | "/etc/passwd"
// A file of the grader's machine, to be seen in the compiler's messages.
#include "/etc/passwd"
