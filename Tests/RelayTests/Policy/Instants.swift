import NIOCore

/// Returns a point on a test's own clock.
func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds) }
