import FileSystem

/// The volume of a directory that was found good.
struct TrustedVolume: Sendable {
  /// The number of the device that holds it.
  let device: UInt64
  let kind: VolumeKind
}
