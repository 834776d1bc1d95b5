public import FoundationShim

/// Encodes one value into self-contained bytes: fast, compact, and the same bytes for the same value in every process.
///
/// <doc:CodingValues> says when to use it, what it costs, and which promise its format has.
///
/// All of `Codable` works as it does with Foundation's coders. Dictionaries and sets are written in the order of their
/// keys' bytes; a type's own `encode(to:)` that walks through a set answers for its own order.
///
/// Misuse that the protocols allow never does harm: a second value in a single-value container, and containers of two
/// kinds for one value, make `encode` throw `EncodingError.invalidValue`. A nested container asked for again with its key
/// goes on where it was; with a key that was given a value it throws too. A container used after its value was encoded
/// throws.
public struct ArchiveEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The greatest depth: how many levels values may be nested in each other.
  ///
  /// 128 unless set, 1 024 at most. An object is a level, and so is a list or a dictionary: a tree whose nodes have a
  /// list of children takes two levels a node. A deeper value throws. Each level takes stack, up to 2.7 KB in a debug
  /// build: the usual limit fits a thread that has 512 KB. Set the same for encoding and decoding.
  public var depthLimit = CodingLimits.usualDepth

  /// Makes an encoder; it can be used any number of times, from any thread.
  public init() {}

  /// Encodes a value.
  ///
  /// Throws `EncodingError`, or whatever the value's own `encode(to:)` throws.
  public func encode<T: Encodable>(_ value: T) throws -> Data {
    try EncodePool.withSession { session in
      let state = session.state
      let interner = state.pointee.interner
      interner.begin()
      let tag = try state.encodeTopLevel(value, userInfo: userInfo, depthLimit: depthLimit)
      interner.header.truncate(to: 0)
      CodedHeader.write(tag: tag, into: &interner.header)
      interner.content.write(from: .start, into: &interner.header)
      return state.pointee.writer.withBytes { payload in
        var data = Data(capacity: interner.header.count + payload.count)
        interner.header.withBytes { data.append($0) }
        data.append(payload)
        return data
      }
    }
  }
}

/// What a self-contained value begins with: two bytes that name the format, its version, the tag of the value.
enum CodedHeader {
  static let magic: [UInt8] = [0xAC, 0x56]
  static let version: UInt8 = 2

  static func write(tag: UInt8, into writer: inout ByteWriter) {
    for byte in magic { writer.writeByte(byte) }
    writer.writeByte(version)
    writer.writeByte(tag)
  }
}

extension EncodeStateRef {
  /// Encodes a value into the empty buffer and tells its tag.
  func encodeTopLevel<T: Encodable>(
    _ value: T, userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int
  ) throws -> UInt8 {
    let root = prepare(userInfo: userInfo, depthLimit: depthLimit)
    // What an earlier value left there must not be taken for this one's.
    root.pointee.child?.pointee.kind = .single
    let tag = try root.encode(value)
    if let misuse = pointee.misuse { throw misuse }
    if root.pointee.child?.pointee.kind == .unopened && tag == ValueTag.map {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(codingPath: [], debugDescription: "Top-level \(T.self) did not encode any values."))
    }
    return tag
  }

  /// Makes an empty state ready for values and gives the frame that they are encoded in.
  func prepare(userInfo: [CodingUserInfoKey: any Sendable], depthLimit: Int) -> EncodeFrameRef {
    guard let root = pointee.root else { preconditionFailure("a state without a frame") }
    pointee.epoch = pointee.interner.epoch
    pointee.depthLimit = min(max(depthLimit, 1), CodingLimits.depth)
    if !userInfo.isEmpty { pointee.userInfo = userInfo }
    pointee.misuse = nil
    root.pointee.depth = 0
    root.pointee.kind = .single
    return root
  }
}
