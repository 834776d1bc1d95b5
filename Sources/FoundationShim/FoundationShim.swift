// The one place that says where Data, Date, URL and the like come from: the small half of Foundation where there is one, else
// all of it. Only the first is tested, on Linux with glibc.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
