import StateRestoration

struct QuickStartSnippets {
  @MainActor func quickStart() async throws {
    // snippet: QuickStart
    let draft = StoredValue("draft", "")

    try await RestorationSession.run(at: .applicationState("com.example.draft"), root: draft) { session in
      print(session.report)  // what came back, what did not and why
      print(draft.value, terminator: "")
      while let line = await Task.detached(operation: { readLine() }).value {
        draft.value += line + "\n"
      }
    }
    // snippet end
  }
}
