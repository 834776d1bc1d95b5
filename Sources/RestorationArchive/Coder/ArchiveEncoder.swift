public import FoundationEssentials

/// Encodes one value into self-contained bytes: fast, compact, and the same bytes for the same value in every process.
///
/// All of `Codable` works as it does with Foundation's coders. Dictionaries and sets are written in the order of their
/// keys' bytes; a type's own `encode(to:)` that walks through a set answers for its own order.
///
/// Misuse that the protocols allow never does harm: a second value in a single-value container, containers of two kinds
/// for one value, and a container used after its value was encoded make `encode` throw `EncodingError.invalidValue`. A
/// nested container asked for again with its key goes on where it was; with a key that was given a value it throws too.
public struct ArchiveEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other; deeper values throw.
  ///
  /// 64 unless set, 1 024 at most.
  public var depthLimit = 64

  /// Makes an encoder; it can be used any number of times, from any thread.
  public init() {}

  /// Encodes a value.
  ///
  /// Throws `EncodingError`, or whatever the value's own `encode(to:)` throws.
  public func encode<T: Encodable>(_ value: T) throws -> Data {
    unsafe try withEncoded(value) { header, payload in
      var data = Data(capacity: header.count + payload.count)
      data.append(contentsOf: header)
      if let base = payload.baseAddress {
        unsafe data.append(base.assumingMemoryBound(to: UInt8.self), count: payload.count)
      }
      return data
    }
  }

  /// Encodes a value and appends its bytes to a buffer, which is unchanged when this throws.
  ///
  /// A buffer that is used again and again saves the allocation of a new one each time.
  public func encode<T: Encodable>(_ value: T, into bytes: inout [UInt8]) throws {
    unsafe try withEncoded(value) { header, payload in
      bytes.append(contentsOf: header)
      unsafe bytes.append(contentsOf: payload)
    }
  }

  /// Encodes a value and lends its two parts.
  private func withEncoded<T: Encodable, Result>(
    _ value: T, _ body: ([UInt8], UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    let state = unsafe EncodePool.take()
    defer { unsafe EncodePool.giveBack(state) }
    let universe = unsafe state.pointee.universe
    universe.begin()
    let tag = try unsafe state.encodeTopLevel(value, userInfo: userInfo, depthLimit: depthLimit)
    universe.header.removeAll(keepingCapacity: true)
    CodedHeader.write(tag: tag, into: &universe.header)
    universe.content.write(from: .start, into: &universe.header)
    let payload = unsafe UnsafeRawBufferPointer(start: state.pointee.base, count: state.pointee.count)
    return try unsafe body(universe.header, payload)
  }
}

/// What a self-contained value begins with: two bytes that name the format, its version, the tag of the value.
enum CodedHeader {
  static let magic: [UInt8] = [0xAC, 0x56]
  static let version: UInt8 = 2

  static func write(tag: UInt8, into bytes: inout [UInt8]) {
    bytes.append(contentsOf: magic)
    bytes.append(version)
    bytes.append(tag)
  }
}

extension UnsafeMutablePointer where Pointee == EncodeState {
  /// Encodes a value into the empty buffer and tells its tag.
  func encodeTopLevel<T: Encodable>(
    _ value: T, userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int
  ) throws -> UInt8 {
    unsafe prepare(userInfo: userInfo, depthLimit: depthLimit)
    let root = unsafe pointee.root
    // What an earlier value left there must not be taken for this one's.
    unsafe root.pointee.child?.pointee.kind = .single
    let tag = try unsafe root.encode(value)
    if let misuse = unsafe pointee.misuse { throw misuse }
    if unsafe root.pointee.child?.pointee.kind == .unopened && tag == ValueTag.map {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(codingPath: [], debugDescription: "Top-level \(T.self) did not encode any values."))
    }
    return tag
  }

  /// Makes an empty state ready for values.
  func prepare(userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int) {
    unsafe pointee.epoch = pointee.universe.epoch
    unsafe pointee.depthLimit = min(max(depthLimit, 1), 1024)
    if !userInfo.isEmpty { unsafe pointee.userInfo = userInfo }
    // A stale container may have been used meanwhile; that was told to whoever used it.
    unsafe pointee.misuse = nil
    unsafe pointee.root.pointee.depth = 0
    unsafe pointee.root.pointee.kind = .single
  }
}
