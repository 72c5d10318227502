import Testing

/// The whole system, on real desktops. One test at a time: the machine is shared with the desktop that is captured.
@Suite("System", .serialized)
enum SystemTests {}
