// A ratio counts as the nearest option. The waves are computed with a remainder.
LAB32_ANSWER(constant_time, 12.5);
LAB32_ANSWER(window_time, 1.3);
LAB32_ANSWER(spilled_time, 1.4);
__device__ int waves(int grid, int resident) {
  return grid / resident + (grid % resident > 0 ? 1 : 0);
}
__device__ float last_wave(int grid, int resident) {
  int left = grid % resident;
  return left == 0 ? 1.0f : float(left) / float(resident);
}
