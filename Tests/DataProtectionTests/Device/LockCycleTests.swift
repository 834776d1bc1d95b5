import DataProtection
import FoundationEssentials
import TestTraits
import Testing

/// Many threads at once: nothing deadlocks, and nothing comes back that isn't whole.
@Suite(.tags(.threads)) struct LockCycleTests {
  /// A longer run takes more: a race that a hundred don't meet shows in thousands.
  static let cycles = ProcessInfo.processInfo.environment["LOCK_CYCLES"].flatMap(Int.init) ?? 100

  @Test(.timeLimit(.minutes(5)))
  func `lock cycles with readers and writers lose nothing`() async throws {
    var world = TestWorld()
    world.options.gracePeriod = .zero
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let files = try device.files()
    for protection in ProtectionClass.allCases {
      try files.create("\(protection)", contents: Self.content(0), protection: protection)
    }
    let isDone = SharedFlag()
    let (successes, success) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let log = Log<ProtectedDevice.Notification>()
    let observation = device.observeProtectedData { [unowned device] notification in
      log.append(notification)
      // An observer that reads a file, whatever the state.
      _ = try? device.files().read("none")
    }
    let counts = try await withThrowingTaskGroup(of: [ProtectionError.Code?: Int].self) { group in
      for protection in ProtectionClass.allCases {
        group.addTask { try await Self.work(on: files, "\(protection)", writes: true, until: isDone, success) }
        group.addTask { try await Self.work(on: files, "\(protection)", writes: false, until: isDone, success) }
      }
      for cycle in 0..<Self.cycles {
        device.lock()
        #expect(device.lockState == .locked)
        if cycle % 20 == 19 { device.reboot() }
        try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
        #expect(device.isProtectedDataAvailable)
        // Where the machine is busy the others hardly get a turn between two locks: now and then they are waited for.
        if cycle % 10 == 0 { for await _ in successes { break } }
      }
      isDone.set()
      var counts: [ProtectionError.Code?: Int] = [:]
      for try await part in group { counts.merge(part, uniquingKeysWith: +) }
      return counts
    }
    // Only two things may ever happen to a reader or writer: it works, or the device is locked.
    #expect(Set(counts.keys).isSubset(of: [nil, .locked]), "\(counts)")
    #expect((counts[nil] ?? 0) > 0)
    let round: [ProtectedDevice.Notification] = [
      .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable,
    ]
    let told = log.all
    #expect(told.count == 2 * Self.cycles)
    #expect(told.indices.allSatisfy { told[$0] == round[$0 % 2] })
    withExtendedLifetime(observation) {}
  }

  /// Three chunks that all say the same number: a torn or mixed one is seen at once.
  static func content(_ number: UInt8) -> Data {
    Data(repeating: number, count: 40_000)
  }

  static func work(
    on files: ProtectedFiles, _ name: String, writes: Bool, until isDone: SharedFlag,
    _ success: AsyncStream<Void>.Continuation
  ) async throws -> [ProtectionError.Code?: Int] {
    var counts: [ProtectionError.Code?: Int] = [:]
    var number: UInt8 = 0
    while !isDone.isSet {
      do throws(ProtectionError) {
        if writes {
          number &+= 1
          try files.write(content(number), to: name)
        } else {
          let read = try files.read(name)
          #expect(read == content(read.first ?? 0))
        }
        counts[nil, default: 0] += 1
        success.yield()
      } catch {
        counts[error.code, default: 0] += 1
      }
      await Task.yield()
    }
    return counts
  }
}
