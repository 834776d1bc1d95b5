package import FaultyFileSystem
package import Sealing
import Synchronization

@testable package import DataProtection

/// A device whose keys are the same in every run, so that an input that crashes crashes again.
package struct FuzzDevice: Sendable {
  /// The store's directory in the memory file system.
  package static let path = "/archives"

  /// All keys, in reach.
  package let keys: any ClassKeys & StoreKeys
  /// Where file keys and salts come from.
  package let random: any RandomSource = RepeatableRandom()
  /// The slot whose files are fuzzed.
  package let slot = ArchiveSlot(application: "com.example.fuzz", scene: "main")

  /// Makes the keys.
  package init() throws {
    let identifier = KeybagIdentifier(bytes: [UInt8](repeating: 1, count: KeybagIdentifier.byteCount))
    let deviceKey = try ProtectedDevice.Key(copying: [UInt8](repeating: 2, count: 32).span)
    let ring = KeyRing(
      keybag: identifier, revision: 3, storageKeys: try StorageKeys(deviceKey),
      bootIdentifier: [UInt8](repeating: 4, count: 16), random: random)
    var keys = KeybagKeys()
    for protection in ProtectionClass.allCases {
      let bytes = [UInt8](repeating: 64 + protection.rawValue, count: 32)
      keys[protection].active = try HeldKey(SecretKey(copying: bytes.span), for: protection)
    }
    ring.install(keys)
    self.keys = ring
  }

  /// The slot's archives on a disk, opened as by a new process.
  package func archives(
    on memory: MemoryFileSystem, protection: ProtectionClass = .complete
  ) throws -> ArchiveStore {
    let root = try memory.openDirectory(atPath: "/")
    let sealer = FileSealer(keys: keys, random: random)
    let store = try StoreDirectory(memory, in: OwnedDescriptor(memory, root), keys: keys, sealer: sealer)
      .archives(for: slot, protection: protection)
    store.keepState()
    return store
  }

  /// The slot's HMAC, of which names are made.
  package var identity: [UInt8] {
    get throws { try keys.authenticationCode(.name, over: slot.bytes) }
  }

  /// The path of a file of the slot.
  package func path(_ name: String) throws -> String {
    "\(Self.path)/\(SlotName(identity: try identity).text)/\(name)"
  }
}

/// Bytes that differ from call to call, and are the same from run to run.
private struct RepeatableRandom: RandomSource {
  private static let state = Mutex<UInt64>(0x9e37_79b9_7f4a_7c15)

  func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
    Self.state.withLock { state in
      for index in buffer.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        unsafe buffer[index] = UInt8(truncatingIfNeeded: state)
      }
    }
  }
}
