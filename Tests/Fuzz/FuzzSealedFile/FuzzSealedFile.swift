import FaultyFileSystem
import Foundation
import FuzzSupport
import Sealing

@testable import DataProtection

/// Reads any bytes as sealed files: headers as they are, whole files with changes, and authentic ones that say anything.
///
/// The first byte chooses.
@c(LLVMFuzzerTestOneInput)
public func fuzzSealedFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 3) else { return 0 }
  let rest = Array(input[2...])
  switch input[0] % 4 {
  case 0: readHeader(rest, kind: SealedFields.Kind.allCases[Int(input[1]) % 2])
  case 1: openChanged(Sample.all[Int(input[1]) % Sample.all.count], rest)
  case 2: openAuthentic(rest, choice: input[1])
  default: readIndex(rest)
  }
  return 0
}

/// What is read as a header must be written the same again.
private func readHeader(_ bytes: [UInt8], kind: SealedFields.Kind) {
  _ = try? SealedFileHeader(reading: bytes[...], kind: kind)
  // Magic and version are given, so that the fuzzer need not guess them.
  let likely = kind.magic + [1, 0] + bytes
  guard let header = try? SealedFileHeader(reading: likely[...], kind: kind) else { return }
  precondition(likely.starts(with: header.bytes), "a header changes when it is read and written")
}

/// A sealed file with changes gives its content only where nothing was changed, and nothing else, ever.
private func openChanged(_ sample: Sample, _ changes: [UInt8]) {
  let bytes = sample.bytes.edited(by: changes)
  guard
    let file = try? sealer.open(
      Bytes(bytes: bytes), kind: .archive, protection: sample.protection, identity: identity, generation: 5)
  else { return }
  precondition(bytes.starts(with: sample.bytes.prefix(SealedFileHeader.maximumByteCount)), "a forged header was taken")
  precondition(file.byteCount == Sample.content.count, "a file of another length was taken")
  for start in [0, 5000, 16_300, 16_384, 30_000, 32_768] {
    let range = start..<min(start + 400, Sample.content.count)
    guard let part = try? file.read(range) else { continue }
    precondition(part == Sample.content[range], "a chunk was read that is not what was sealed")
  }
  if let whole = try? file.read(0..<file.byteCount) {
    // Behind the base there may be more: frames, or what anybody has put there.
    precondition(whole == Sample.content && bytes.starts(with: sample.bytes), "a changed file was read whole")
  }
}

/// Files that were sealed with the right keys, but say whatever the input says: in their fields and in their content.
private func openAuthentic(_ input: [UInt8], choice: UInt8) {
  guard input.count >= 24 else { return }
  var reader = FieldReader(input[...])
  let protection = ProtectionClass.allCases[Int(choice) % 4]
  let generation = UInt64(choice >> 4)
  let fields = SealedFields(
    kind: .archive, protection: protection, identity: identity,
    generation: choice & 8 == 0 ? generation : reader.integer(), flags: .init(rawValue: reader.integer()))
  guard let sealed = try? sealer.seal(Data(input[24...]), fields) else { return }
  let memory = store.afterProcessDeath()
  guard let path = try? device.path("\(choice & 4 == 0 ? "p" : "g")-\(generation)"),
    let ledger = try? device.path("ledger")
  else { return }
  memory.plant([UInt8](sealed.bytes), atPath: path)
  if choice & 3 == 3 { memory.remove(atPath: ledger) }
  guard let archives = try? device.archives(on: memory, protection: protection) else { return }
  _ = try? archives.openNewest().readAll()
  _ = try? archives.openPending()
  let new = Data("new".utf8)
  if (try? archives.publish(new)) != nil {
    archives.close()
    let found = try? device.archives(on: memory, protection: protection).openNewest()
    precondition((try? found?.readAll()) == new, "what was saved is not what is found")
  }
}

/// A list of protected files that is read is written the same again.
private func readIndex(_ bytes: [UInt8]) {
  _ = try? FileIndex(bytes)
  let likely = Array("SRPINDEX".utf8) + [1, 0] + bytes
  guard let index = try? FileIndex(likely) else { return }
  precondition((try? FileIndex(index.bytes))?.entries.count == index.entries.count, "a list changes when it is written")
}

// MARK: What is valid

private let device = try! FuzzDevice()
private let sealer = FileSealer(keys: device.keys, random: device.random)
private let identity = try! device.identity

/// A store with one generation, number 1.
private let store: MemoryFileSystem = {
  let memory = MemoryFileSystem()
  try! device.archives(on: memory).publish(Data("old".utf8))
  return memory
}()

/// A sealed file of three chunks.
private struct Sample {
  static let content = Data((0..<2 * 16_384 + 100).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
  static let all = ProtectionClass.allCases.map(Sample.init)

  let protection: ProtectionClass
  let bytes: [UInt8]

  init(_ protection: ProtectionClass) {
    self.protection = protection
    let fields = SealedFields(
      kind: .archive, protection: protection, identity: identity, generation: 5)
    bytes = [UInt8](try! sealer.seal(Sample.content, fields).bytes)
  }
}

/// Bytes as a source.
private struct Bytes: SealedSource {
  let bytes: [UInt8]
  var byteCount: Int { bytes.count }

  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8] {
    Array(bytes[min(range.lowerBound, bytes.count)..<min(range.upperBound, bytes.count)])
  }
}
