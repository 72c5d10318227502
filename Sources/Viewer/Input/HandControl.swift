import HeliographClient
import Synchronization

/// Acts on the device of a session by hand: keys, pointer, wheel and fingers, in order.
///
/// A click into the picture begins it; that click is not sent. It ends with Escape held for a second, when the window
/// loses the focus, and when the relay or another controller ends it.
@MainActor
final class HandControl {
    enum State: Sendable {
        case off, asking, on
    }

    /// The time between two movements that are sent, ns. The relay takes 500 messages a second, of all kinds.
    private static let moveInterval: UInt64 = 8_000_000
    /// How long Escape must be held, ns.
    private static let escapeTime: UInt64 = 1_000_000_000
    /// A notch of a wheel, in pixels.
    private static let notch = 120.0
    /// The most inputs that wait for the connection: some seconds of them.
    private static let mostInputs = 256

    let feed: SessionFeed
    private(set) var state = State.off
    private var keyboard = KeyboardState()
    private var buttons: Set<Input.Button> = []
    private var fingers = Fingers()
    private var inputs: AsyncStream<Input>.Continuation?
    /// Whether an input found no room, so that nobody knows what is held.
    private var hasOverflowed = false
    /// A movement that waits, and when the next one may be sent, ns.
    private var move: Input?
    private var moveDue: UInt64 = 0
    /// Since when Escape is held, ns.
    private var escape: UInt64?
    /// What the relay has answered, until ``follow()`` takes it in. Tasks write it, because the main actor waits for
    /// SDL's events and runs none.
    private let answer = Mutex<Result<Void, RelayError>?>(nil)

    init(_ feed: SessionFeed) { self.feed = feed }

    // MARK: Beginning and ending

    /// Asks the relay for control. ``follow()`` tells what it answers.
    ///
    /// - Parameter takes: Whether to take it from another controller at once.
    func begin(takes: Bool) {
        guard state == .off, let live = feed.live else { return }
        state = .asking
        let (stream, continuation) = AsyncStream.makeStream(
            of: Input.self,
            bufferingPolicy: .bufferingOldest(Self.mostInputs)
        )
        inputs = continuation
        // One task, so that claim, input and the end arrive in this order.
        Task.detached { [self] in
            do throws(RelayError) {
                try await live.takeControl(fromOthers: takes)
                answer.withLock { $0 = .success(()) }
                Viewer.wake()
                for await input in stream { try? await live.send(input) }
                try? await live.leaveControl()
            } catch {
                answer.withLock { $0 = .failure(error) }
                Viewer.wake()
            }
        }
    }

    /// What has become of control since the last look.
    enum Change {
        case begun
        /// It did not begin, or has ended, and why.
        case ended(String)
    }

    /// Takes in what the relay has said.
    func follow() -> Change? {
        let answered = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        switch (state, answered) {
        case (.asking, .success?):
            state = .on
            return .begun
        case (.asking, .failure(let error)?):
            end()
            let hint = error.code == "controlled" ? "\nShift and a click take it." : ""
            return .ended(error.description + hint)
        case (.on, _) where hasOverflowed:
            end()
            return .ended("Control has ended: the connection is too slow for your input.")
        case (.on, _):
            let control = feed.live?.control
            guard control?.isMine != true else { return nil }
            end()
            let taker = control?.controller ?? "Another caller"
            return .ended(control?.wasTaken == true ? "\(taker) has taken control." : "Control has ended.")
        default: return nil
        }
    }

    /// Ends control, or the wish for it. The relay releases what is held.
    func end() {
        state = .off
        inputs?.finish()
        (inputs, move, escape) = (nil, nil, nil)
        keyboard = KeyboardState()
        (buttons, fingers) = ([], Fingers())
    }

    // MARK: Keys

    func keyDown(_ key: KeyboardState.Key, now: UInt64) {
        guard state == .on else { return }
        if key.name == "Escape", escape == nil { escape = now }
        send(keyboard.down(key))
    }

    func keyUp(scancode: Int32, name: String) {
        if name == "Escape" { escape = nil }
        send(keyboard.up(scancode: scancode))
    }

    func text(_ text: String) { send(keyboard.text(text)) }

    private func send(_ outputs: [KeyboardState.Output]) {
        for output in outputs {
            switch output {
            case .key(let keysym, let isDown): send(.key(keysym: keysym, isDown: isDown))
            case .text(let text): send(.text(text))
            }
        }
    }

    // MARK: Pointer

    func moved(to place: Input.Place, now: UInt64) {
        guard state == .on else { return }
        if case .touch? = move { postMove() }
        move = .move(place)
        sendMove(now: now)
    }

    /// Moves the locked pointer by a distance in the picture, in pixels.
    func moved(dx: Double, dy: Double, now: UInt64) {
        guard state == .on else { return }
        if case .touch? = move { postMove() }
        let (sumX, sumY): (Double, Double) = if case .motion(let x, let y)? = move { (x, y) } else { (0, 0) }
        move = .motion(dx: sumX + dx, dy: sumY + dy)
        sendMove(now: now)
    }

    /// - Parameters:
    ///   - place: `nil` where the pointer is.
    ///   - isInside: Whether the place is in the picture. A button that goes down outside is not sent.
    func button(_ button: Input.Button, isDown: Bool, at place: Input.Place? = nil, isInside: Bool = true) {
        guard state == .on, isDown ? isInside : buttons.contains(button) else { return }
        if isDown { buttons.insert(button) } else { buttons.remove(button) }
        let place = known(place)
        // The button has its own place.
        if place != nil, case .move? = move { move = nil }
        send(.button(button, isDown: isDown, at: place))
    }

    /// - Parameters:
    ///   - right: Notches of the wheel.
    ///   - down: Likewise.
    ///   - place: `nil` where the pointer is.
    func wheel(right: Double, down: Double, at place: Input.Place?) {
        guard right != 0 || down != 0 else { return }
        send(.scroll(dx: right * Self.notch, dy: down * Self.notch, at: known(place)))
    }

    /// Returns a place that a button may have.
    private func known(_ place: Input.Place?) -> Input.Place? { place?.geometry == 0 ? nil : place }

    // MARK: Fingers

    /// - Parameters:
    ///   - id: This machine's number of the finger.
    ///   - isInside: Whether the place is in the picture. A finger that goes down outside is not sent.
    func finger(_ id: Int64, _ phase: Input.Contact.Phase, at place: Input.Place, isInside: Bool, now: UInt64) {
        guard state == .on, phase != .down || isInside, let contact = fingers.contact(id, phase, at: place) else {
            return
        }
        guard phase == .move else { return send(.touch([contact], geometry: place.geometry)) }
        var contacts = [contact]
        if case .touch(let others, place.geometry)? = move {
            contacts = others.filter { $0.id != contact.id } + contacts
        } else {
            postMove()
        }
        move = .touch(contacts, geometry: place.geometry)
        sendMove(now: now)
    }

    // MARK: Time

    /// When ``tick(now:)`` must be called, ns; `nil` for not by time.
    var due: UInt64? {
        guard state == .on else { return nil }
        return [escape.map { $0 + Self.escapeTime }, move.map { _ in moveDue }].compactMap { $0 }.min()
    }

    /// Sends a movement that is due.
    ///
    /// - Returns: Whether Escape was held long enough to end control.
    func tick(now: UInt64) -> Bool {
        guard state == .on else { return false }
        sendMove(now: now)
        return escape.map { now >= $0 + Self.escapeTime } ?? false
    }

    private func sendMove(now: UInt64) {
        guard move != nil, now >= moveDue else { return }
        moveDue = now + Self.moveInterval
        postMove()
    }

    private func send(_ input: Input) {
        guard state == .on else { return }
        postMove()
        post(input)
    }

    /// Posts the movement that waits.
    private func postMove() {
        guard let next = move else { return }
        move = nil
        post(next)
    }

    private func post(_ input: Input) {
        if case .dropped? = inputs?.yield(input) { hasOverflowed = true }
    }
}
