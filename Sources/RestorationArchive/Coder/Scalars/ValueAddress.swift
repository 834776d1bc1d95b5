// Unsafe memory, 5 of 6: values whose type is known by its metatype.
//
// Relies on: an address is made with the type of its value, and each use names the type again, which is compared. An
// address is used within the closure that gets it. A place is filled once: only filling it makes the token that is asked for.

/// The address of a value of a type that was compared.
@safe struct ValueAddress {
  private let address: UnsafeRawPointer
  private let type: ObjectIdentifier

  /// Lends the address of a value.
  @inline(__always)
  static func lending<T, Result>(_ value: T, _ body: (ValueAddress) throws -> Result) rethrows -> Result {
    try unsafe withUnsafePointer(to: value) {
      unsafe try body(ValueAddress(address: UnsafeRawPointer($0), type: ObjectIdentifier(T.self)))
    }
  }

  /// The value, whose type this must be.
  ///
  /// Read where it is: a copy would be retained.
  subscript<T>(type: T.Type) -> T {
    @inline(__always) unsafeAddress {
      precondition(self.type == ObjectIdentifier(type))
      return unsafe address.assumingMemoryBound(to: T.self)
    }
  }
}

/// The place for a result of a type that is compared.
@safe struct ResultPlace {
  private let address: UnsafeMutableRawPointer
  private let type: ObjectIdentifier

  /// Says that a place was filled.
  struct Filled {
    fileprivate init() {}
  }

  /// Lends a place for a value, which the body must fill.
  @inline(__always)
  static func lending<T>(_ type: T.Type, _ body: (ResultPlace) throws -> Filled) rethrows -> T {
    // No scalar and no collection is larger. Memory of the type's own size would come from the heap.
    var memory: Int128 = 0
    precondition(MemoryLayout<T>.size <= 16 && MemoryLayout<T>.alignment <= MemoryLayout<Int128>.alignment)
    return try unsafe withUnsafeMutablePointer(to: &memory) { memory in
      _ = unsafe try body(ResultPlace(address: UnsafeMutableRawPointer(memory), type: ObjectIdentifier(type)))
      return unsafe UnsafeMutableRawPointer(memory).assumingMemoryBound(to: T.self).move()
    }
  }

  /// Puts a value in the place, whose type this must be.
  @inline(__always)
  func put<T>(_ value: T) -> Filled {
    precondition(type == ObjectIdentifier(T.self))
    unsafe address.assumingMemoryBound(to: T.self).initialize(to: value)
    return Filled()
  }
}

/// A value as another name of its own type, where the compiler does not see that they are one.
@inline(__always)
func sameType<T, U>(_ value: T, as type: U.Type) -> U {
  precondition(ObjectIdentifier(T.self) == ObjectIdentifier(type))
  return unsafe unsafeBitCast(value, to: type)
}
