extension FileSystem {
  /// Writes all bytes at an offset, through short writes and interruptions.
  ///
  /// If it throws, any part of the bytes may have been written.
  package func writeAll(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) {
    var written = 0
    while written < bytes.byteCount {
      do throws(FileSystemError) {
        let count = try write(
          descriptor, bytes.extracting(written..<bytes.byteCount), at: offset + Int64(written))
        // A write that takes nothing and reports nothing would loop for ever.
        guard count > 0 else { throw FileSystemError(.inputOutput, .write) }
        written += count
      } catch  where error.code == .interrupted {
        continue
      }
    }
  }

  /// Reads until the buffer is full or the file ends, through short reads and interruptions; returns the count.
  package func readUpTo(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    var done = 0
    while done < buffer.count {
      do throws(FileSystemError) {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = try unsafe read(descriptor, into: rest, at: offset + Int64(done))
        if count == 0 { break }
        done += count
      } catch  where error.code == .interrupted {
        continue
      }
    }
    return done
  }

  /// Reads the first bytes of a file with one call; fewer than `count` when the file ends, or the system has its reasons.
  package func readOnce(_ descriptor: Descriptor, count: Int) throws(FileSystemError) -> [UInt8] {
    var failure: FileSystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, initialized in
      do throws(FileSystemError) {
        initialized = try unsafe read(descriptor, into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads at most `count` bytes at an offset; fewer when the file ends first.
  package func readBytes(
    _ descriptor: Descriptor, count: Int, at offset: Int64 = 0
  ) throws(FileSystemError) -> [UInt8] {
    var failure: FileSystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, initialized in
      do throws(FileSystemError) {
        initialized = try unsafe readUpTo(descriptor, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Locks an open file, trying again until it is free or the patience is used up; `false` means busy.
  package func lock(
    _ descriptor: Descriptor, _ mode: LockMode, patience: Duration
  ) throws(FileSystemError) -> Bool {
    var waited = Duration.zero
    var step = Duration.microseconds(200)
    while true {
      do throws(FileSystemError) {
        if try tryLock(descriptor, mode) { return true }
      } catch  where error.code == .interrupted {
        continue
      }
      guard waited < patience else { return false }
      pause(for: step)
      waited += step
      step = min(step * 2, .milliseconds(20))
    }
  }
}
