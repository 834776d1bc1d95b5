import DataProtection
import FoundationEssentials
import Glibc
import TestTraits
import Testing

@testable import StateRestoration

/// A program that has no file descriptor left goes on, and saves when there are some again.
@Suite(.tags(.threads)) struct DescriptorTests {
  @Test func `an automatic save that fails as no file descriptor is left is made when there are some`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let directory = FileManager.default.temporaryDirectory.appending(path: "descriptors-\(getpid())")
      defer { try? FileManager.default.removeItem(at: directory) }
      let device = try await ProtectedDevice.open(at: .directory(directory.path))
      let delegate = YesDelegate()
      let coordinator = try RestorationCoordinator(device: device, delegate: delegate)
      let root = Screen("root")
      _ = try await coordinator.restore(into: root)
      _ = try await coordinator.preserve(root)

      var taken: [Int32] = []
      while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
      coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(10))
      root.text = "without descriptors"
      await delegate.nextEvent()
      // Until the pause before the next save has begun, and no longer: about once a second Dispatch looks at its threads, by
      // files, and ends the program when it can't open them (Linux, Swift 6.3).
      for _ in 0..<20 { await Task.yield() }
      for descriptor in taken { close(descriptor) }
      root.text = "with descriptors"
      let again = Screen("root")
      while again.text != root.text {
        await delegate.nextEvent()
        // One writer has the scene.
        await coordinator.letGo()
        _ = try await RestorationCoordinator(device: device, delegate: delegate).restore(into: again)
      }
    }
  }
}
