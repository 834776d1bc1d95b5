import Foundation
import RestorationArchive

/// Encodes, decodes and damages values: errors are fine; traps, endless loops and values that change are not.
///
/// The first byte says what the rest is: an encoded value as the encoder begins it (so that the golden files are seeds as
/// they are), tables and a record, what a value does while it is encoded, or what one does while it is decoded.
/// Any other first byte chooses a type and a format, and the rest is a value of it without its first three bytes: one type
/// at a time, because that is many times as many executions.
@c(LLVMFuzzerTestOneInput)
public func fuzzCoder(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 1 else { return 0 }
  let input = unsafe Data(bytes: start, count: count)
  let rest = Data(input.dropFirst())
  switch input[0] {
  case 0xAC: for kind in 0..<kinds { checkValue(input, kind) }
  case 1: checkRecord(rest)
  case 2: checkWriting(rest)
  case 3: checkReading(rest)
  default: checkValue(Data([0xAC, 0x56, input[0] & 0x80 == 0 ? 2 : 1]) + rest, Int(input[0] & 0x7F) % kinds)
  }
  return 0
}

/// How many types `checkValue` knows.
private let kinds = 9

/// Decodes bytes into a type of one kind.
private func checkValue(_ data: Data, _ kind: Int) {
  switch kind {
  case 0: check(Wide.self, data)
  case 1: check(Expression.self, data)
  case 2: check(Tree.self, data)
  case 3: check([Set<Point>].self, data)
  case 4: check([Point: [UInt8]].self, data)
  case 5: check(Scalars.self, data)
  case 6: check(Derived.self, data)
  case 7: check([[[String]]].self, data)
  default: _ = try? ArchiveDecoder().decode(Anything.self, from: data)
  }
}

/// What decodes must encode, and decode to the same again.
private func check<T: Codable & Equatable>(_ type: T.Type, _ data: Data) {
  guard let value = try? ArchiveDecoder().decode(type, from: data) else { return }
  do {
    let again = try ArchiveEncoder().encode(value)
    let back = try ArchiveDecoder().decode(type, from: again)
    let twice = try ArchiveEncoder().encode(back)
    precondition(twice == again, "\(type) does not encode to the same bytes")
  } catch let error as EncodingError {
    // Decoding allows what encoding does not: values that are nested as deep as can be.
    guard case .invalidValue(_, let context) = error, context.underlyingError is ArchiveError else {
      preconditionFailure("\(type) decodes but does not encode: \(error)")
    }
  } catch { preconditionFailure("\(type) does not come back: \(error)") }
}

/// The first byte tells how many bytes are tables; the rest is a record.
private func checkRecord(_ bytes: Data) {
  guard let length = bytes.first.map(Int.init) else { return }
  let rest = bytes.dropFirst()
  var tables = CodingTables()
  guard (try? tables.append(parsing: Data(rest.prefix(length)))) != nil,
    let record = try? RecordDecoder(Data(rest.dropFirst(length)), tables: tables.pinned())
  else { return }
  for key in record.keys {
    precondition(record.contains(key))
    _ = try? record.decode(Wide.self, forKey: key)
    _ = try? record.decode(Anything.self, forKey: key)
    _ = try? record.decode(Int.self, forKey: key)
  }
  // Going on with whatever the tables were must work.
  let entries = [RestorationArchive.Entry(key: "a", value: Point(x: 1, y: 2))]
  guard let encoded = try? RecordEncoder().encode(entries, tables: &tables),
    let again = try? RecordDecoder(Data(encoded), tables: tables.pinned()),
    (try? again.decode(Point.self, forKey: "a")) == Point(x: 1, y: 2)
  else { preconditionFailure("a record does not go with tables that were read") }
}

/// Lets a value do what the bytes say while it is encoded: twice, as the same must come out of it.
private func checkWriting(_ bytes: Data) {
  let first = try? ArchiveEncoder().encode(ScriptedValue(Script(bytes)))
  let second = try? ArchiveEncoder().encode(ScriptedValue(Script(bytes)))
  precondition(first == second, "the same value has other bytes the second time")
  guard let first else { return }
  do {
    // A number in the innermost container takes a level more when it is read as a type that asks for it.
    var decoder = ArchiveDecoder()
    decoder.depthLimit = 100
    _ = try decoder.decode(Anything.self, from: first)
  } catch { preconditionFailure("what was encoded cannot be read: \(error)") }
}

/// The first byte tells how many bytes say what a value does while it is decoded; the rest is what it is decoded from.
private func checkReading(_ bytes: Data) {
  guard let length = bytes.first.map(Int.init) else { return }
  let rest = bytes.dropFirst()
  var decoder = ArchiveDecoder()
  decoder.userInfo[Script.key] = Script(Data(rest.prefix(length)))
  _ = try? decoder.decode(ScriptedReading.self, from: Data([0xAC, 0x56, 1]) + rest.dropFirst(length))
}
