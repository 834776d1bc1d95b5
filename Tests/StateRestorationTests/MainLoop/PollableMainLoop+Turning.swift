import Foundation
import Testing

@testable import StateRestoration

extension RestorationMainLoop.Pollable {
  /// Blocks in the loop until something has happened; no job of the main actor runs meanwhile.
  @MainActor func turn(until isOver: () -> Bool, at place: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock().now + .seconds(60)
    while !isOver() {
      guard ContinuousClock().now < end else {
        Issue.record("nothing happens in the loop", sourceLocation: place)
        return
      }
      var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&descriptor, 1, 1_000)
      runDueBlocks()
    }
  }
}
