import CLibcrypto
import Synchronization

/// Working contexts of libcrypto, reused because making one costs as much as using it.
///
/// A context goes back without a key in it: the borrower overwrites or resets it first. What fails is freed instead.
@safe final class ContextPool: Sendable {
  private let make: @Sendable () throws(SealingError) -> OpaquePointer
  private let dispose: @Sendable (OpaquePointer) -> Void
  private let idle = Mutex<[IdleContext]>([])

  init(
    make: @escaping @Sendable () throws(SealingError) -> OpaquePointer,
    dispose: @escaping @Sendable (OpaquePointer) -> Void
  ) {
    unsafe self.make = make
    unsafe self.dispose = dispose
  }

  /// Lends a context; `clean` runs before it is kept for the next borrower, and frees it by returning `false`.
  ///
  /// What the calls leave in the thread's queue of errors is taken away.
  func withContext<Result: ~Copyable>(
    isNew: Bool = false, _ body: (OpaquePointer) throws(SealingError) -> Result, clean: (OpaquePointer) -> Bool
  ) throws(SealingError) -> Result {
    try keepingErrors { () throws(SealingError) in try unsafe lend(isNew: isNew, body, clean: clean) }
  }

  private func lend<Result: ~Copyable>(
    isNew: Bool, _ body: (OpaquePointer) throws(SealingError) -> Result, clean: (OpaquePointer) -> Bool
  ) throws(SealingError) -> Result {
    let context: OpaquePointer
    if !isNew, let kept = idle.withLock({ $0.popLast() }) {
      unsafe context = kept.pointer
    } else {
      unsafe context = try make()
    }
    let result: Result
    do {
      result = try unsafe body(context)
    } catch {
      unsafe dispose(context)
      throw error
    }
    if unsafe clean(context) {
      idle.withLock { unsafe $0.append(IdleContext(pointer: context)) }
    } else {
      unsafe dispose(context)
    }
    return result
  }

  /// Frees the contexts that nobody is using.
  func freeIdle() {
    let kept = idle.withLock { (idle: inout [IdleContext]) in
      defer { idle = [] }
      return idle
    }
    for context in kept { unsafe dispose(context.pointer) }
  }
}

/// `@unchecked Sendable`: an idle context belongs to nobody until it is taken out under the lock.
@safe private struct IdleContext: @unchecked Sendable {
  let pointer: OpaquePointer
}

/// The contexts that this process keeps between operations.
package enum CryptographicContexts {
  /// Frees every idle context, as is done at lock; the next operation makes new ones.
  package static func freeAll() {
    AESGCM.contexts.freeIdle()
    HMACSHA256.contexts.freeIdle()
    HKDF.sha256Contexts.freeIdle()
    HKDF.sha512Contexts.freeIdle()
  }

  /// How often each algorithm was looked up in libcrypto; once, however much was sealed.
  package static var fetchCounts: [String: Int] { Algorithm.fetchCounts }
}
