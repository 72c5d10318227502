package import Wire

/// A way to act on a desktop: virtual devices that exist as long as the backend does. Owned by one thread.
///
/// Presses of what is down already, and releases of what is not, do nothing. Callers release what is down before
/// ``close()``.
package protocol InputBackend: AnyObject {
    var capabilities: InputCapabilities { get }

    /// Starts a guard that releases what is held if this process dies or hangs.
    func startGuard() throws(InputFailure) -> any InputGuarding

    /// Makes a device if there is none, and waits until programs use it: its first events would be lost. Called before
    /// the device's events. A release does not end the wait, so that the device is ready for what comes next.
    func prepare(_ device: InputDevice) throws(InputFailure)
    /// Moves the pointer to a place on the captured screen, as fractions of the source frame's width and height,
    /// 0 to 1.
    func movePointer(to place: InputPlace) throws(InputFailure)
    func movePointer(dx: Double, dy: Double) throws(InputFailure)
    /// - Parameter code: BTN_LEFT (0x110) to BTN_TASK (0x117).
    func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure)
    /// - Parameters: in pixels; right and down are positive.
    func scroll(dx: Double, dy: Double) throws(InputFailure)
    func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure)
    /// - Parameter keysym: an X keysym.
    func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure)
    /// Types text at the pace that the desktop follows. Stops early if `stop` is set.
    ///
    /// - Returns: The time just before the last character, in monotonic ns.
    func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64
    /// Waits until the desktop has taken all events.
    func flush() throws(InputFailure)
    /// Ends the connection. Must be called once.
    func close()
}

/// A kind of virtual device. Its value is its name for people.
package enum InputDevice: String, Sendable {
    case pointer, keyboard
    case touch = "touch screen"
}

/// A place on the captured screen, as fractions of the source frame's size.
package struct InputPlace: Sendable, Equatable {
    package var x: Double
    package var y: Double
    /// The size of the source frame in pixels.
    package var width: Int
    package var height: Int

    package init(x: Double, y: Double, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}
