/// Answers the signals of a program that has opened its state: by a save of all that is open, and the program's last word.
@MainActor final class SignalAnswer {
  /// Called before a signal ends the process, after the save.
  var willEnd: (@MainActor (Lifecycle.Signal) -> Void)?
  /// Called before Ctrl-Z stops the process, after the save.
  var willStop: (@MainActor () -> Void)?
  /// Called when the process goes on.
  var didResume: (@MainActor () -> Void)?
  private var driver: SignalDriver?

  /// Answers signals, unless another driver of the process has them, which saves what is open here as well.
  func begin(_ signals: Set<Lifecycle.Signal>, in mainLoop: RestorationMainLoop?) {
    guard !signals.isEmpty else { return }
    let driver = SignalDriver(signals: signals, mainLoop: mainLoop) { [weak self] signal in
      self?.willEnd?(signal)
      SignalPipe.endProcess(by: signal)
    }
    driver.onStop = { [weak self] in self?.willStop?() }
    driver.onResume = { [weak self] in self?.didResume?() }
    if driver.startSavingSessions() { self.driver = driver }
  }

  /// Signals do what they did.
  func end() {
    driver?.stop()
    driver = nil
  }
}
