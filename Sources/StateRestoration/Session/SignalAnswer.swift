/// Answers the signals of a program that has opened its state: by a save of all that is open, and the program's last word.
@MainActor final class SignalAnswer {
  /// Called before a signal ends the process, after the save.
  var willEnd: (@MainActor (SignalDriver.Signal) -> Void)?
  #if canImport(Glibc)
  private var driver: SignalDriver?
  #endif

  /// Answers signals, unless another driver of the process has them, which saves what is open here as well.
  func begin(_ signals: Set<SignalDriver.Signal>, in mainLoop: RestorationMainLoop?) {
    #if canImport(Glibc)
    guard !signals.isEmpty else { return }
    let driver = SignalDriver(signals: signals, mainLoop: mainLoop) { [weak self] signal in
      self?.willEnd?(signal)
      SignalDriver.endProcess(by: signal)
    }
    if driver.startSavingSessions() { self.driver = driver }
    #endif
  }

  /// Signals do what they did.
  func end() {
    #if canImport(Glibc)
    driver?.stop()
    driver = nil
    #endif
  }
}
