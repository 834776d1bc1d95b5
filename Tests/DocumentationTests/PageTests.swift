import StateRestoration
import StateRestorationTesting
import Testing

@testable import two_windows

/// The window of the article *Windows and dialogs*.
@MainActor @Suite struct PageTests {
  @Test func `the page of the article comes back, with its dialogue`() async {
    let page = RestorationSubject {
      Page("first")
    } registering: { coordinator in
      coordinator.registry.register(RenameDialogue.self, as: "rename") { _, _ in RenameDialogue() }
    }
    await assertRestores(page) {
      $0.text.value = "text"
      $0.present(RenameDialogue())
    }
    await lintRestoration(of: page) {
      $0.text.value = "text"
      $0.present(RenameDialogue())
    }
  }
}
