import FoundationShim

extension RestorationArchive.Writer {
  /// A node that was looked at or changed since the base; all others are only in the reader.
  struct Slot: Sendable {
    /// Where a node's state is.
    enum Payload: Sendable {
      /// Encoded in this run.
      case bytes([UInt8])
      /// Where the reader has it.
      case stored(StatePlace)

      /// No state.
      static let none = Payload.bytes([])

      /// The number of bytes.
      var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .stored(let state): state.range.count
        }
      }

      /// Lends the bytes; those in the base come from its bytes, when they are at hand, else from the reader.
      @inline(__always)
      func withBytes(
        base: Data?, reader: ReaderCore?, _ body: (Borrowed<UInt8>) -> Void
      ) throws(ArchiveError) {
        switch self {
        case .bytes(let bytes): bytes.withBorrowed { body($0) }
        case .stored(let state):
          if state.delta == nil, let base {
            base.withBytes { body($0[state.range]) }
          } else if let data = try reader?.payload(at: state) {
            data.withBytes { body($0) }
          }
        }
      }
    }

    /// The node's number; ``ArchiveHeader/rootID`` for the parent of the roots.
    var id: UInt32
    /// The parent's number.
    var parent: UInt32
    /// The identifier.
    var name: String
    /// Everything else that is known.
    var attributes: RestorationArchive.Attributes
    /// The state, also while it is left out.
    var payload: Payload
    /// The children's numbers; nil while they are as the reader has them.
    var children: Siblings?
    /// Whether the reader or an earlier delta has the node.
    var isStored: Bool
    /// Whether the next delta must hold the node.
    var isChanged = false
    /// Whether the next delta must hold the list of children.
    var hasChangedChildren = false
    /// Whether the node got its parent or its name since the last delta.
    var isRelinked = false
    /// Whether the node is gone.
    var isRemoved = false

    /// Whether the next delta must hold anything of it.
    var isDirty: Bool { isChanged || hasChangedChildren || isRelinked }
  }

  /// A name under a parent.
  struct Link: Hashable, Sendable {
    /// The parent's number.
    var parent: UInt32
    /// The identifier.
    var name: RestorationIdentifier
  }
}
