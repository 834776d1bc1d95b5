extension RestorationArchive {
  /// One node's encoded state: its values are decoded one by one, as they are asked for.
  package struct Record: Sendable {
    /// The number of the node whose state it is.
    package let node: NodeID
    let core: ReaderCore
    /// Where the state is.
    let state: StatePlace
    let decoder: RecordDecoder?
    /// Reads all parts of the tree, when there are several.
    private let tree: PartedReader?

    /// Reads the outline of a node's state.
    init(core: ReaderCore, node: NodeBlock, tree: PartedReader? = nil) throws(ArchiveError) {
      self.core = core
      self.tree = tree
      state = node.state
      self.node = NodeID(rawValue: node.id)
      do {
        let payload = try core.payload(at: state)
        decoder =
          payload.isEmpty
          ? nil
          : try RecordDecoder(payload, tables: try core.tables().decoding, depthLimit: core.limits.valueDepth)
      } catch {
        var located = error
        located.path = tree == nil ? try? core.path(of: node.id) : try? tree?.path(of: NodeID(rawValue: node.id))
        throw located
      }
    }

    /// The path of the node; empty when damage hides it.
    package var path: RestorationPath { (try? tree?.path(of: node) ?? core.path(of: node.rawValue)) ?? [] }

    /// The keys of the values, in the order in which they were encoded.
    package var keys: [String] { decoder?.keys ?? [] }

    /// True when the node has no state.
    package var isEmpty: Bool { keys.isEmpty }

    /// Whether a value is stored under a key.
    package func contains(_ key: String) -> Bool { decoder?.contains(key) ?? false }

    /// Decodes the value under a key: `keyNotFound` when there is none, `decodingFailed` when it doesn't fit.
    package func decode<T: Decodable>(
      _ type: T.Type = T.self, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ArchiveError) -> T {
      guard let decoder else {
        throw ArchiveError(.keyNotFound, "the object has no state, so none under \"\(key)\"", path: path)
      }
      return try located { () throws(ArchiveError) in try decoder.decode(type, forKey: key, userInfo: userInfo) }
    }

    /// Decodes the value under a key; nil only when there is none.
    ///
    /// Throws `decodingFailed` or `corrupt` when there is one that doesn't fit.
    package func decodeIfPresent<T: Decodable>(
      _ type: T.Type = T.self, forKey key: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ArchiveError) -> T? {
      try located { () throws(ArchiveError) in try decoder?.decodeIfPresent(type, forKey: key, userInfo: userInfo) }
    }

    private func located<T>(_ body: () throws(ArchiveError) -> T) throws(ArchiveError) -> T {
      do { return try body() } catch {
        var located = error
        located.path = path
        throw located
      }
    }
  }
}
