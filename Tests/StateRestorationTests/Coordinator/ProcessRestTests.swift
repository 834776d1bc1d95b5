import Testing

@testable import StateRestoration

/// A process rests while its own thread uses nothing, and the others no more than libdispatch does in an idle process.
struct ProcessRestTests {
  private let beginning = ProcessRest.Usage(own: .milliseconds(5), others: .milliseconds(9))

  /// After how many seconds the rest is over, at looks every two seconds.
  private func lengthOfRest(_ usage: (_ seconds: Int) -> (own: Duration, others: Duration)) -> Int {
    var rest = ProcessRest(beginning)
    var seconds = 0
    repeat { seconds += 2 } while rest.lasts(to: after(seconds, usage(seconds)))
    return seconds
  }

  private func after(_ seconds: Int, _ more: (own: Duration, others: Duration)) -> ProcessRest.Usage {
    ProcessRest.Usage(
      time: beginning.time + .seconds(seconds), own: beginning.own + more.own, others: beginning.others + more.others)
  }

  @Test func `an idle process is asked twice a minute`() {
    #expect(lengthOfRest { _ in (.zero, .zero) } == 30)
  }

  @Test func `the threads of libdispatch, added up, are no work`() {
    #expect(lengthOfRest { (.zero, .microseconds(130) * $0) } == 30)
  }

  @Test func `any work of the program's own thread counts, however little`() {
    #expect(lengthOfRest { ($0 < 6 ? .zero : .microseconds(5), .zero) } == 6)
  }

  @Test func `work of another thread counts`() {
    #expect(lengthOfRest { (.zero, $0 < 10 ? .zero : .milliseconds(1)) } == 10)
    #expect(lengthOfRest { (.zero, .microseconds(180) * $0) } == 4)
  }

  @Test func `a thread that has ended is work of others`() {
    // Its time is theirs from then on.
    #expect(lengthOfRest { $0 < 6 ? (.zero, .zero) : (beginning.own * -1, beginning.own) } == 6)
  }
}
