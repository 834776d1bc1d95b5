/// What the file system says about one item: its kind, who owns it, and how big it is.
package struct FileStatus: Hashable, Sendable {
  /// What an item is.
  package enum Kind: Hashable, Sendable {
    case regular, directory, symbolicLink, other
  }

  /// What the item is.
  package var kind: Kind
  /// The permission bits, `0o7777` and below.
  package var mode: UInt32
  /// The numeric owner.
  package var owner: UInt32
  /// The number of names it has.
  package var linkCount: UInt64
  /// Its length in bytes.
  package var byteCount: Int64
  /// The file's number on its device; with `device` it tells two files apart.
  package var inode: UInt64
  /// The number of the device that holds it.
  package var device: UInt64
  /// When its content last changed, in seconds since 1970.
  package var modificationTime: Double

  /// What tells the item from every other one.
  package var identity: FileIdentity { FileIdentity(inode: inode, device: device) }

  /// Puts a status together.
  package init(
    kind: Kind, mode: UInt32, owner: UInt32, linkCount: UInt64, byteCount: Int64, inode: UInt64,
    device: UInt64,
    modificationTime: Double
  ) {
    self.kind = kind
    self.mode = mode
    self.owner = owner
    self.linkCount = linkCount
    self.byteCount = byteCount
    self.inode = inode
    self.device = device
    self.modificationTime = modificationTime
  }
}

/// What tells one item of the file system from every other one, for as long as it is open or has a name.
package struct FileIdentity: Hashable, Sendable {
  /// Its number on its device.
  package var inode: UInt64
  /// The number of the device.
  package var device: UInt64

  /// Puts an identity together.
  package init(inode: UInt64, device: UInt64) { (self.inode, self.device) = (inode, device) }
}
