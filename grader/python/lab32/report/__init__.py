"""`lab32 report`: one page of a grading, with pictures of what the student's own kernels do."""
