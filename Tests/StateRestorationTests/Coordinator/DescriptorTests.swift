import DataProtection
import FoundationEssentials
import Glibc
import StateRestoration
import Testing

/// A program that has no file descriptor left goes on, and saves when there are some again.
@Suite struct DescriptorTests {
  @Test func `an automatic save that is due when no file descriptor is left ends no program`() async {
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
      for round in 0..<3 {
        root.text = "without descriptors, \(round)"
        await delegate.nextEvent()
      }
      for descriptor in taken { close(descriptor) }
      root.text = "with descriptors"
      let again = Screen("root")
      while again.text != root.text {
        await delegate.nextEvent()
        _ = try await RestorationCoordinator(device: device, delegate: delegate).restore(into: again)
      }
    }
  }
}
