package import FileSystem
import Synchronization

/// What another program with access to the directory can do, by absolute path, durably and at once.
///
/// These are a test's hands, not calls of the program under test: they are not counted, don't fail by plan, and
/// trap when the path makes no sense.
extension MemoryFileSystem {
  /// The content of the file at a path, as programs see it; `nil` when it isn't there.
  package func content(atPath path: String) -> [UInt8]? {
    state.withLock { state in (try? state.inode(atPath: path)).map { state.disk.live[$0]!.content } }
  }

  /// The names in the directory at a path, sorted; empty when it isn't there.
  package func names(atPath path: String) -> [String] {
    state.withLock { state in
      (try? state.inode(atPath: path)).map { state.disk.live[$0]!.entries.keys.sorted() } ?? []
    }
  }

  /// The status of the item at a path; `nil` when it isn't there.
  package func status(atPath path: String) -> FileStatus? {
    state.withLock { state in (try? state.inode(atPath: path)).map { state.status($0) } }
  }

  /// Puts a file at a path, or replaces the content of the one that is there.
  package func plant(_ content: [UInt8], atPath path: String, mode: UInt32 = 0o600) {
    edit { state in
      if let inode = try? state.inode(atPath: path) {
        state.disk.live[inode]!.content = content
      } else {
        let inode = state.disk.makeInode(.regular, mode: mode, owner: self.currentUser)
        state.disk.live[inode]!.content = content
        state.addEntry(inode, atPath: path)
      }
    }
  }

  /// Puts an item of another kind at a path: a symbolic link, a FIFO (`.other`), a directory.
  package func plant(_ kind: FileStatus.Kind, atPath path: String) {
    edit { state in
      state.addEntry(state.disk.makeInode(kind, mode: 0o700, owner: self.currentUser), atPath: path)
    }
  }

  /// Puts a symbolic link at a path.
  package func plantSymbolicLink(to target: String, atPath path: String) {
    plant(.symbolicLink, atPath: path)
    edit { state in
      let (parent, name) = state.split(path)
      state.disk.live[state.disk.live[parent]!.entries[name]!]!.content = Array(target.utf8)
    }
  }

  /// Gives the item at a path another one.
  package func move(fromPath path: String, toPath newPath: String) {
    edit { state in
      let (parent, name) = state.split(path)
      let inode = state.disk.live[parent]!.entries.removeValue(forKey: name)!
      state.addEntry(inode, atPath: newPath)
    }
  }

  /// Gives the item at one path a second name.
  package func plantLink(from path: String, toPath newPath: String) {
    edit { state in state.addEntry(try! state.inode(atPath: path), atPath: newPath) }
  }

  /// Removes the name at a path.
  package func remove(atPath path: String) {
    edit { state in
      let (parent, name) = state.split(path)
      state.disk.live[parent]!.entries[name] = nil
    }
  }

  /// Changes the owner of the item at a path.
  package func setOwner(_ owner: UInt32, atPath path: String) {
    edit { state in state.disk.live[try! state.inode(atPath: path)]!.owner = owner }
  }

  /// Changes the mode of the item at a path.
  package func setMode(_ mode: UInt32, atPath path: String) {
    edit { state in state.disk.live[try! state.inode(atPath: path)]!.mode = mode }
  }

  /// Every file's content as a power cut could leave it, old blocks aside: for scans for plaintext.
  package var allContents: [[UInt8]] {
    state.withLock { state in
      state.disk.live.values.map(\.content) + state.disk.durable.values.map(\.content)
    }
  }

  private func edit(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      // Everything seen so far counts as durable: another program has had all the time in the world.
      state.disk.synchronizeAll()
    }
  }
}

extension MemoryFileSystem.State {
  fileprivate func split(_ path: String) -> (parent: Int, name: String) {
    let parts = path.split(separator: "/")
    let parent = "/" + parts.dropLast().joined(separator: "/")
    return (try! inode(atPath: parent), String(parts.last!))
  }

  fileprivate mutating func addEntry(_ inode: Int, atPath path: String) {
    let (parent, name) = split(path)
    disk.live[parent]!.entries[name] = inode
  }
}
