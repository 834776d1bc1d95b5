import CLibcrypto

/// Makers for the named parameters that libcrypto's functions take.
///
/// The names are static strings because libcrypto keeps pointers to them.
extension OSSL_PARAM {
  static func bytes(_ name: StaticString, _ value: UnsafeRawBufferPointer) -> OSSL_PARAM {
    // A null pointer would mean "not given", so an empty value still points somewhere.
    let start = unsafe value.baseAddress ?? UnsafeRawPointer(name.utf8Start)
    return unsafe OSSL_PARAM_construct_octet_string(
      name.cString, UnsafeMutableRawPointer(mutating: start), value.count)
  }

  static func text(_ name: StaticString, _ value: StaticString) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_utf8_string(name.cString, UnsafeMutablePointer(mutating: value.cString), 0)
  }

  /// A number, kept in memory that outlives the call which reads the list.
  static func number(_ name: StaticString, _ value: UnsafeMutablePointer<UInt64>) -> OSSL_PARAM {
    unsafe OSSL_PARAM_construct_uint64(name.cString, value)
  }
}

/// Lends a list of parameters with the end mark that libcrypto looks for; at most five.
func withParameters<Result>(
  _ first: OSSL_PARAM, _ second: OSSL_PARAM? = nil, _ third: OSSL_PARAM? = nil, _ fourth: OSSL_PARAM? = nil,
  _ fifth: OSSL_PARAM? = nil, _ body: (UnsafePointer<OSSL_PARAM>) -> Result
) -> Result {
  unsafe withUnsafeTemporaryAllocation(of: OSSL_PARAM.self, capacity: 6) { list in
    unsafe list[0] = first
    var count = 1
    // Without an array: this is on the path of every frame.
    if let second = unsafe second {
      unsafe list[count] = second
      count += 1
    }
    if let third = unsafe third {
      unsafe list[count] = third
      count += 1
    }
    if let fourth = unsafe fourth {
      unsafe list[count] = fourth
      count += 1
    }
    if let fifth = unsafe fifth {
      unsafe list[count] = fifth
      count += 1
    }
    unsafe list[count] = OSSL_PARAM_construct_end()
    return unsafe body(UnsafePointer(list.baseAddress!))
  }
}

extension StaticString {
  var cString: UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
