import FaultyFileSystem
import FileSystem
import Foundation
import SeededRandom
import TestTraits
import Testing

@testable import DataProtection

/// One slot on a real disk, saved into by one run after the other, of which most are killed.
///
/// With `RESTORATION_SOAK=30000` in the environment it makes so many saves, and prints what it has measured.
@Suite struct SoakTests {
  private static let saveCount = ProcessInfo.processInfo.environment["RESTORATION_SOAK"].flatMap { Int($0) } ?? 400
  private let path = NSTemporaryDirectory() + "soak-\(UUID().uuidString)"

  /// What a launch costs: calls of the file system, and milliseconds.
  private struct Launch {
    var calls: Int
    var milliseconds: Double
  }

  private func open(through disk: any FileSystem) async throws -> ArchiveStore {
    let device = try await ProtectedDevice.open(
      at: .directory(path), environment: DeviceEnvironment(fileSystem: disk, scrypt: .test, variables: { _ in nil }))
    let store = try device.archives(for: ArchiveSlot(application: "soak"))
    store.keepState()
    return store
  }

  /// Opens the state as a launch does.
  private func launch(through disk: FaultyFileSystem) async throws -> (store: ArchiveStore, found: Int, cost: Launch) {
    let clock = ContinuousClock()
    let (start, calls) = (clock.now, disk.callCount)
    let store = try await open(through: disk)
    try store.open()
    let opened = try store.openNewest()
    let last = try opened.frames.last ?? opened.readAll()
    _ = try store.openPending()
    _ = try store.attempts(at: opened)
    let time = clock.now - start
    let cost = Launch(calls: disk.callCount - calls, milliseconds: time / .milliseconds(1))
    return (store, try #require(Int(String(decoding: last.prefix { $0 != 32 }, as: UTF8.self))), cost)
  }

  /// A state of a number, padded to a length.
  private func state(_ number: Int, _ length: Int) -> Data {
    var text = Data("\(number) ".utf8)
    text.append(Data(repeating: 0x61, count: max(0, length - text.count)))
    return text
  }

  /// The files of the device, and their bytes.
  private func size() throws -> (files: Int, bytes: Int) {
    var (files, bytes) = (0, 0)
    for case let url as URL in FileManager.default.enumerator(
      at: URL(filePath: path), includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey])!
    {
      let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      guard values.isRegularFile == true else { continue }
      files += 1
      bytes += values.fileSize ?? 0
    }
    return (files, bytes)
  }

  @Test func `after thousands of saves and kills nothing acknowledged is lost, and nothing has grown`() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    var random = SplitMix64(seed: 4242)
    let longest = 40_000
    var (number, acknowledged, kills) = (1, 1, 0)
    _ = try await open(through: LinuxFileSystem()).publish(state(1, 100))
    var launches: [Launch] = []
    var largest = (files: 0, bytes: 0)
    while number < Self.saveCount {
      let disk = FaultyFileSystem(LinuxFileSystem())
      let launched = try await launch(through: disk)
      launches.append(launched.cost)
      #expect((acknowledged...number).contains(launched.found), "save \(number)")
      acknowledged = launched.found
      let store = launched.store
      var newest = try store.openNewest().generation
      // Most runs die at some call; from there on nothing happens any more.
      if Int.random(in: 0..<4, using: &random) > 0 {
        disk.fail(from: disk.callCount + Int.random(in: 1...400, using: &random), nil, .error(.inputOutput))
      }
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        number += 1
        do {
          var receipt: PublishReceipt?
          if Int.random(in: 0..<5, using: &random) > 0 {
            receipt = try store.append(state(number, Int.random(in: 20...600, using: &random)), to: newest)
          }
          if receipt == nil {
            receipt = try store.publish(state(number, Int.random(in: 20...longest, using: &random)))
          }
          newest = receipt!.generation
          if receipt!.durability == .durable { acknowledged = number }
        } catch {
          break
        }
        if !disk.hits.isEmpty { break }
      }
      if !disk.hits.isEmpty { kills += 1 }
      let size = try size()
      largest = (max(largest.files, size.files), max(largest.bytes, size.bytes))
      // Newest and the one before, one that a kill has left, and what is there once.
      #expect(size.files <= 16 && size.bytes <= 4 * (longest * 5 / 4 + 20_000), "save \(number): \(size)")
    }
    #expect(launches.allSatisfy { $0.calls <= 40 })
    #expect(kills > Self.saveCount / 100)
    let part = max(1, launches.count / 10)
    func median(_ some: some Collection<Launch>) -> Double { some.map(\.milliseconds).sorted()[some.count / 2] }
    if Self.saveCount > 1000 {
      print(
        "\(number) saves, \(launches.count) launches, \(kills) kills: at most \(largest.files) files, \(largest.bytes) bytes; "
          + "launches \(launches.map(\.calls).min()!) to \(launches.map(\.calls).max()!) calls, median of the first tenth "
          + "\(median(launches.prefix(part))) ms, of the last \(median(launches.suffix(part))) ms")
    }
  }
}
