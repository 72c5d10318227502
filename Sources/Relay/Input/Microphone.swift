import HeliographAPI
import NIOCore
import Wire

/// A device's microphone, and the viewer that speaks to it: one that controls the device.
@MediaLoop
final class Microphone {
    /// How long a speaker may pause. A page sends silence, too.
    private static let longestPause = TimeAmount.seconds(1)

    private let device: String
    private let events: EventHub
    private let send: @MediaLoop (Packet) -> Void
    private weak var viewer: ViewerControl?
    private var lastPacket = NIODeadline.now()
    /// The caller that speaks; `nil` for none.
    private(set) var speaker: InputControl.Caller?
    /// The agent's last report; `nil` before the first.
    private(set) var report: SpeechReport?

    /// - Parameter send: Sends a packet to the agent that has the microphone.
    init(of device: String, events: EventHub, send: @escaping @MediaLoop (Packet) -> Void) {
        (self.device, self.events, self.send) = (device, events, send)
    }

    /// Takes an Opus packet from a viewer that controls the device, and ends any other one's speech.
    func take(_ packet: [UInt8], from viewer: ViewerControl, by caller: InputControl.Caller) {
        if self.viewer !== viewer {
            end()
            self.viewer = viewer
        }
        lastPacket = .now()
        change(to: caller)
        send(.speech(packet))
    }

    /// Ends a viewer's speech, if it speaks.
    func end(of viewer: ViewerControl) {
        if self.viewer === viewer { end() }
    }

    /// Ends the speech of a viewer that has sent none for a while. Called periodically.
    func tick(of viewer: ViewerControl) {
        if self.viewer === viewer, .now() - lastPacket > Self.longestPause { end() }
    }

    func received(_ report: SpeechReport) { self.report = report }

    func agentLost() { report = nil }

    private func end() {
        guard speaker != nil else { return }
        viewer = nil
        send(.speech([]))
        change(to: nil)
    }

    private func change(to caller: InputControl.Caller?) {
        guard caller != speaker else { return }
        speaker = caller
        events.publish(.speakerChanged, device: device, state: caller?.description)
    }
}
