import Glibc

/// The processor time that this process has taken on all threads, in nanoseconds: a save works on two.
///
/// Other tests that run meanwhile take some of it. So a measurement is the least of some passes.
func processorTime() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
