internal import Foundation

/// Blocking work on a thread of its own, which starts at once.
///
/// The threads of Swift's tasks are as many as the machine has cores. A test that blocks one of them, to wait for another
/// thread or process, stops the tests beside it, and two such tests stop a small machine for good.
package struct OwnThread<Value: Sendable>: Sendable {
  private let values: AsyncThrowingStream<Value, any Error>

  /// Starts the work.
  package init(_ body: @escaping @Sendable () throws -> Value) {
    let (values, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    self.values = values
    Thread.detachNewThread {
      do {
        continuation.yield(try body())
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// The result, once; the caller's task is suspended until it is there.
  package var value: Value {
    get async throws {
      for try await value in values { return value }
      throw CancellationError()
    }
  }
}

/// Runs a body that blocks on a thread of its own; the caller's task is suspended meanwhile.
package func onThread<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      do throws(Failure) {
        continuation.resume(returning: .success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}

/// Runs every job of a task on a thread of its own, for tasks whose work blocks somewhere inside.
package final class OwnThreads: TaskExecutor {
  /// The only one, as it has no state.
  package static let shared = OwnThreads()

  /// Starts a thread for the job.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
