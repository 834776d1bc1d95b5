import DataProtection
import Foundation
import Sealing

/// Metrics of the encryption alone, on as many bytes as an archive has.
struct SealingMetrics {
  /// How to measure.
  var measurement: Measurement
  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool

  /// Sealing and opening as many bytes as the nodes take, and one chunk.
  func run(count: Int) throws -> [Result] {
    guard wants("seal") || wants("open") || wants("openChunk") else { return [] }
    let plaintext = [UInt8](repeating: 0x42, count: count * 320)
    let key = try SecretKey(copying: [UInt8](repeating: 7, count: 32).span)
    let context = [UInt8]("restore-bench".utf8)
    let sealed = try ChunkedEncryption.seal(
      plaintext.span, key: key, context: context.span, random: SystemRandom()
    ).bytes
    var results: [Result] = []
    func add(_ metric: String, _ pass: @escaping () throws -> Void) throws {
      var copy: [UInt8] = []
      let taken = try measurement.run(
        units: count,
        [
          .ours(pass),
          Lane(name: "raw.memcpy") {
            copy = plaintext
            copy[0] ^= 1
            consume(copy)
          },
        ])
      results.append(
        Result(
          metric: metric, nodes: count, unit: "ns/node", value: taken[Lane.ours]?.nanoseconds ?? .nan,
          baselines: ["raw.memcpy": taken["raw.memcpy"]?.nanoseconds ?? .nan],
          allocations: taken[Lane.ours]?.allocations, bytes: 320))
    }
    let holder = KeyHolder(key)
    if wants("seal") {
      try add("seal") {
        consume(
          try ChunkedEncryption.seal(plaintext.span, key: holder.key, context: context.span, random: SystemRandom())
            .bytes)
      }
      results[results.count - 1].details = ["a journal's frame of 300 bytes, µs": try frame(holder)]
    }
    if wants("open") {
      try add("open") { consume(try ChunkedEncryption.open(sealed.span, key: holder.key, context: context.span)) }
    }
    if wants("openChunk") {
      let prefix = Array(sealed[..<ChunkedEncryption.prefixByteCount])
      let opener = try ChunkedOpener(
        prefix: prefix.span, messageByteCount: sealed.count, key: holder.key, context: context.span)
      let chunk = Array(sealed[opener.messageRange(ofChunks: 0..<1)])
      let taken = try measurement.run(units: 1, [.ours { consume(try opener.openChunk(0, of: chunk.span)) }])
      results.append(
        Result(
          metric: "openChunk", nodes: count, unit: "ns", value: taken[Lane.ours]?.nanoseconds ?? .nan, baselines: [:],
          bytes: Double(opener.plaintextRange(ofChunks: 0..<1).count)))
    }
    return results
  }

  /// Sealing one changed node: its context holds the journal's header and binding, the number and the frame before.
  private func frame(_ holder: KeyHolder) throws -> Double {
    let plaintext = [UInt8](repeating: 0x42, count: 300)
    let context = [UInt8](repeating: 0x43, count: 330)
    let taken = try measurement.run(
      units: 1,
      [
        .ours {
          consume(
            try ChunkedEncryption.seal(plaintext.span, key: holder.key, context: context.span, random: SystemRandom())
              .bytes)
        }
      ])
    return (taken[Lane.ours]?.nanoseconds ?? .nan) / 1_000
  }

  /// Unlocking with a passcode: the cost of one guess with a copy of the whole disk.
  func unlock(_ device: ProtectedDevice, rounds: Int) async throws -> [Result] {
    guard wants("unlock") else { return [] }
    try await device.setPasscode(try ProtectedDevice.Passcode("2580"))
    var times: [Double] = []
    for _ in 0..<rounds {
      device.reboot()
      let begun = Clock.wall.now
      try await device.unlock(passcode: try ProtectedDevice.Passcode("2580"))
      times.append(Clock.wall.now - begun)
    }
    return [
      Result(metric: "unlock", nodes: 1, unit: "ns", value: median(of: times), baselines: [:])
    ]
  }
}

/// A key that closures can share.
final class KeyHolder {
  let key: SecretKey

  init(_ key: consuming SecretKey) {
    self.key = key
  }
}
