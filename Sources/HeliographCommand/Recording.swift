import Media

/// Where a watched session goes.
protocol Recording: Sendable {
    /// Takes the session's next picture.
    ///
    /// - Returns: false when there is to be no more.
    func append(_ picture: AccessUnit) throws(CommandError) -> Bool

    /// How long to wait until the recording is as long as it is to be; nil when it is, or when nothing has come.
    func remaining(of duration: Duration) -> Duration?

    /// Ends it.
    func finish() throws(CommandError)

    /// A line of figures.
    var summary: String { get }
}
