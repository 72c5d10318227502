import HeliographClient
import Synchronization

/// Acts on the device of a session by hand: keys, pointer and wheel, in order.
///
/// A click into the picture begins it; that click is not sent. It ends with Escape held for a second, when the window
/// loses the focus, and when the relay or another controller ends it.
@MainActor
final class HandControl {
    enum State: Sendable {
        case off, asking, on
    }

    /// The time between two movements that are sent, ns. The relay takes 250 messages a second.
    private static let moveInterval: UInt64 = 8_000_000
    /// How long Escape must be held, ns.
    private static let escapeTime: UInt64 = 1_000_000_000
    /// A notch of a wheel, in pixels.
    private static let notch = 120.0

    let feed: SessionFeed
    private(set) var state = State.off
    private var keyboard = KeyboardState()
    private var buttons: Set<Input.Button> = []
    private var inputs: AsyncStream<Input>.Continuation?
    /// A movement that waits, and when the next one may be sent, ns.
    private var move: Input?
    private var moveDue: UInt64 = 0
    /// Since when Escape is held, ns.
    private var escape: UInt64?
    /// What the relay has answered, until ``follow()`` takes it in. Tasks write it, because the main actor waits for
    /// SDL's events and runs none.
    private let answer: Mutex<Result<Void, RelayError>?>

    init(_ feed: SessionFeed) {
        self.feed = feed
        answer = Mutex(nil)
    }

    // MARK: Beginning and ending

    /// Asks the relay for control. ``follow()`` tells what it answers.
    ///
    /// - Parameter takes: Whether to take it from another controller at once.
    func begin(takes: Bool) {
        guard state == .off, let live = feed.live else { return }
        state = .asking
        Task.detached { [self] in
            let result: Result<Void, RelayError>
            do throws(RelayError) {
                result = .success(try await live.takeControl(fromOthers: takes))
            } catch {
                result = .failure(error)
            }
            answer.withLock { $0 = result }
            Viewer.wake()
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
            granted()
            return .begun
        case (.asking, .failure(let error)?):
            end()
            let hint = error.code == "controlled" ? "\nShift and a click take it." : ""
            return .ended(error.description + hint)
        case (.on, _) where feed.control?.isMine != true:
            end()
            return .ended("Control has ended.")
        default: return nil
        }
    }

    private func granted() {
        guard let live = feed.live else { return }
        state = .on
        let (stream, continuation) = AsyncStream.makeStream(of: Input.self)
        inputs = continuation
        Task.detached {
            for await input in stream { try? await live.send(input) }
            try? await live.leaveControl()
        }
    }

    /// Ends control. The relay releases what is held.
    func end() {
        // It may be granted yet.
        if state == .asking, let live = feed.live { Task.detached { try? await live.leaveControl() } }
        state = .off
        inputs?.finish()
        (inputs, move, escape) = (nil, nil, nil)
        keyboard = KeyboardState()
        buttons = []
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
        move = .move(place)
        sendMove(now: now)
    }

    /// - Parameter isInside: Whether the place is in the picture. A button that goes down outside is not sent.
    func button(_ button: Input.Button, isDown: Bool, at place: Input.Place, isInside: Bool) {
        guard state == .on, isDown ? isInside : buttons.contains(button) else { return }
        if isDown { buttons.insert(button) } else { buttons.remove(button) }
        // The button has its own place.
        move = nil
        send(.button(button, isDown: isDown, at: place.geometry == 0 ? nil : place))
    }

    /// - Parameters:
    ///   - right: Notches of the wheel.
    ///   - down: Likewise.
    func wheel(right: Double, down: Double, at place: Input.Place) {
        guard right != 0 || down != 0 else { return }
        send(.scroll(dx: right * Self.notch, dy: down * Self.notch, at: place.geometry == 0 ? nil : place))
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
        guard let next = move, now >= moveDue else { return }
        (move, moveDue) = (nil, now + Self.moveInterval)
        inputs?.yield(next)
    }

    private func send(_ input: Input) {
        guard state == .on else { return }
        if let next = move {
            move = nil
            inputs?.yield(next)
        }
        inputs?.yield(input)
    }
}
