package import Media
package import Wire

/// The way to a desktop's input: what it offers, and virtual devices on demand.
package protocol InputAccess: Sendable {
    /// Finds out what the desktop offers, without making devices. Takes seconds if a service does not answer.
    func capabilities() -> InputCapabilities
    /// Returns why nobody may act on the desktop, by the operator's setting or a person's will; `nil` if it is allowed.
    func refusal() -> String?
    /// Makes the devices, and waits until programs can use them.
    func open() throws(InputFailure) -> any InputBackend
    /// Whether the captured monitor takes another size.
    var canResize: Bool { get }
    /// Gives the captured monitor another size, and waits until the source shows it, or `stop` is set.
    func resize(to size: PictureSize, stop: Event) throws(InputFailure)
}

extension InputAccess {
    package var canResize: Bool { false }
    package func resize(to size: PictureSize, stop: Event) throws(InputFailure) { throw MonitorResizing.impossible }
}

/// A guard that releases what is held if this process dies or hangs.
package protocol InputGuarding: AnyObject {
    /// Says what is held from now on.
    func held(_ held: [HeldInput.Item])
    /// Ends the guard. It releases what it knows to be held. Must be called once.
    func close()
}
