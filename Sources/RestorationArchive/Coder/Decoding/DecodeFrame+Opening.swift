extension DecodeFrameRef {
  /// Starts to read an object or a map.
  @inline(__always)
  func openKeyed(_ info: KeyTypeRef) throws {
    pointee.pathKind = .key
    pointee.current.clear()
    if pointee.tag == ValueTag.object {
      var cursor = cursor(at: pointee.start)
      if let first = cursor.peek, first < 240, Int(first) < pointee.state.pointee.tables.shapeCount {
        let fields = pointee.state.pointee.tables.shape(Int(first))
        if cursor.remaining > fields.count {
          cursor.move(to: pointee.start &+ 1)
          return open(Int(first), fields, info, cursor)
        }
      }
    }
    try openOther(info)
  }

  @inline(__always)
  private func open(_ shape: Int, _ fields: Borrowed<UInt32>, _ info: KeyTypeRef, _ cursor: ByteCursor) {
    pointee.kind = .shape
    pointee.fields = fields
    pointee.count = fields.count
    pointee.index = 0
    pointee.next = cursor.offset
    pointee.shape = shape
    pointee.fieldMap = info.pointee.isIndexed ? pointee.state.pointee.fieldMap(shape: shape, info: info) : -1
  }

  /// The fields by index of the map that was taken, as long as it is that of the object's shape and a key type.
  @inline(__always)
  func mappedFields(_ info: KeyTypeRef) -> Slab<UInt16>? {
    let slot = pointee.fieldMap
    guard slot >= 0, pointee.state.pointee.fieldMaps[slot].serves(pointee.shape, info) else { return nil }
    return pointee.state.pointee.fieldMaps[slot].fields
  }

  @inline(never)
  private func openOther(_ info: KeyTypeRef) throws {
    var cursor = cursor(at: pointee.start)
    do throws(ArchiveError) {
      switch pointee.tag {
      case ValueTag.object:
        let (number, fields) = try walker().readShape(&cursor)
        return open(number, fields, info, cursor)
      case ValueTag.map:
        let header = try MapHeader(&cursor)
        pointee.count = header.count
        pointee.kind = .map
        pointee.innerTag = header.innerTag
        pointee.fieldMap = -1
        pointee.fields = Borrowed()
        pointee.index = 0
        pointee.next = cursor.offset
        return
      default: break
      }
    } catch { throw error.decodingError(path()) }
    throw mismatchedContainer([String: Any].self)
  }
}
