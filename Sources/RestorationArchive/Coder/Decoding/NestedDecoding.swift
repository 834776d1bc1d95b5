/// Keeps the frames of a nested container or a super decoder for as long as somebody holds it.
///
/// A program that walks through a million nested containers so needs the memory of one.
@safe final class NestedDecoding {
  /// The path to the nested value.
  let path: [any CodingKey]
  /// The frame of the nested value.
  let frame: DecodeFrameRef
  private let epoch: UInt64

  /// Makes the frame for a payload.
  init(_ tag: UInt8, at start: UnsafePointer<UInt8>, path: [any CodingKey], inside parent: DecodeFrameRef) throws {
    self.path = path
    let state = unsafe parent.pointee.state
    let depth = unsafe parent.pointee.depth + 1
    if unsafe depth > state.pointee.depthLimit { throw unsafe parent.tooDeep(at: start) }
    unsafe epoch = state.pointee.epoch
    unsafe frame = DecodePool.takeChain(for: state)
    unsafe frame.begin(tag, at: start, depth: depth, state: state)
    unsafe frame.pointee.owner = Unmanaged.passUnretained(self)
  }

  deinit { unsafe DecodePool.giveBack(chain: frame) }

  /// Throws when the decoding that this is a part of has ended.
  @inline(__always)
  func check() throws {
    guard isValid else { throw unsafe frame.misused("A nested container was used after its decoding ended.") }
  }

  /// Whether the decoding that this is a part of goes on.
  var isValid: Bool { unsafe frame.pointee.state.pointee.epoch == epoch }
}
