import StateRestoration

extension DemoApplication {
  /// Hands a key to the present receiver.
  func handle(_ key: Key) async {
    defer { onChange() }
    clearNotice()
    if lockScreen != nil { return await handleLocked(key) }
    if await handleEverywhere(key) { return }
    if var view = reportView {
      reportView = view.handle(key) ? view : nil
      return
    }
    if dialog != nil { return await handleDialog(key) }
    if key == .control("d"), root.notes.stack.stack.count == 1, !root.inbox.jots.isEmpty { return root.inbox.clear() }
    if root.screen?.handle(key) == true { return }
    switch key {
    case .tab: selectNextTab()
    case .character("?"): showHelp()
    default: break
    }
  }

  /// The keys that mean the same everywhere.
  private func handleEverywhere(_ key: Key) async -> Bool {
    switch key {
    case .control("t"): selectNextTab()
    case .function(1): showHelp()
    case .function(let number) where root.tabs.indices.contains(number - 2): root.select(number - 2)
    case .click(0, let column):
      guard dialog == nil, let tab = chrome.tab(atColumn: column) else { return false }
      reportView = nil
      root.select(tab)
    case .control("l"): await lock()
    case .control("r"):
      let text = report?.description ?? "Nothing was restored in this run."
      reportView = ReportView([text, desktopReport?()].compactMap(\.self).joined(separator: "\n\n"))
    case .control("q"), .control("c"): await quit()
    case .control("\\"): await forget()
    case .control("g"): shelf.reload()
    default: return false
    }
    return true
  }

  private func handleLocked(_ key: Key) async {
    if lockScreen?.isChecking == true { return }
    switch (key, lockScreen?.field) {
    case (.control("q"), _), (.control("c"), _): await quit()
    case (.control("\\"), _): await forget()
    case (.tab, .passcode): lockScreen?.field = .jot
    case (.tab, _): lockScreen?.field = .passcode
    case (.enter, .passcode): await unlock(with: lockScreen?.prompt.text ?? "")
    case (.enter, _): jot = nil
    case (.up, _), (.down, _), (.pageUp, _), (.pageDown, _): root.screen?.handleLocked(key)
    case (_, .passcode): _ = lockScreen?.prompt.handle(key)
    default: editJot(with: key)
    }
  }

  private func editJot(with key: Key) {
    let current = jot ?? root.inbox.begin()
    // The inbox's list of lines is no observable property, so a new one is announced by hand.
    if jot == nil { root.inbox.invalidateRestorableState() }
    jot = current
    var buffer = TextBuffer(current.text)
    if buffer.editLine(with: key) { current.text = buffer.text }
  }

  private func handleDialog(_ key: Key) async {
    if dialog?.isWorking == true { return }
    switch key {
    case .escape: dialog = nil
    case .enter:
      guard dialog?.answer() == .done, let dialog else { return }
      await change(dialog)
    default: _ = dialog?.prompt.handle(key)
    }
  }

  private func showHelp() { reportView = ReportView(Arguments.keys, title: "Help") }

  private func selectNextTab() {
    root.select(((root.selectedIndex ?? 0) + 1) % root.tabs.count)
  }
}
