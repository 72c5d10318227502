import HeliographAPI
import HeliographClient
import Relay
import RelayTestSupport
import Testing
import Wire

/// A relay with an agent that is the test, and its device as a program has it.
@Suite("A device, as a program calls it", .serialized)
struct DeviceCallsTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF]

    private func withAgent(_ body: @escaping @Sendable (Device, LinkClient) async throws -> Void) async throws {
        try await RunningRelay.run {
            $0.devices[0].applications = ["editor": AllowedApplication(command: ["editor"], takesArguments: true)]
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.inputs(InputCapabilities(backend: "x11", clipboard: true)))
            try await relay.waitForCapabilities()
            try await body(try RelayClient(relay.url("")).device(), link)
            // Otherwise the relay would wait for its answer before it ends.
            try? await link.close()
        }
    }

    @Test("has a clipboard with a text or an image")
    func clipboard() async throws {
        try await withAgent { device, link in
            let text = "Grüße, 日本語 👋\n"
            async let read = device.clipboard()
            #expect(try await link.answerClipboard(.content(ClipboardContent(.text, Array(text.utf8)))) == .get(.text))
            #expect(try await read == text)
            async let image = device.clipboardImage()
            #expect(try await link.answerClipboard(.content(ClipboardContent(.png, Self.png))) == .get(.png))
            #expect(try await image == Self.png)

            async let set: Void = device.setClipboard(text)
            #expect(try await link.answerClipboard(.done) == .set(ClipboardContent(.text, Array(text.utf8))))
            try await set
            async let setImage: Void = device.setClipboard(png: Self.png)
            #expect(try await link.answerClipboard(.done) == .set(ClipboardContent(.png, Self.png)))
            try await setImage
            let error = await #expect(throws: RelayError.self) { try await device.setClipboard(png: [1, 2, 3]) }
            #expect(error?.code == "bad_content")
        }
    }

    @Test("launches applications, and ends them")
    func applications() async throws {
        try await withAgent { device, link in
            #expect(try await device.launchableApplications() == ["editor"])
            async let launch = device.launch("editor", arguments: ["a.txt"], awaitingWindow: .seconds(5))
            let order = try await link.answerApplication(running: true)
            let editor = try await launch
            #expect(order.applications.map(\.id) == [editor.id])
            #expect(editor.name == "editor" && editor.isRunning && editor.exitStatus == nil)

            async let focus: Void = editor.focus()
            #expect(try await link.answerApplication(running: true).applications.map(\.id) == [editor.id])
            try await focus
            async let list = device.applications()
            _ = try await link.answerApplication()
            #expect(try await list.map(\.id) == [editor.id])

            async let end = editor.terminate()
            _ = try await link.answerApplication(running: false, status: 3)
            let ended = try await end
            #expect(ended.id == editor.id && !ended.isRunning && ended.exitStatus == 3)

            let unknown = await #expect(throws: RelayError.self) { try await device.launch("browser") }
            #expect(unknown?.code == "unknown_application")
            let impatient = await #expect(throws: RelayError.self) {
                try await device.launch("editor", awaitingWindow: .seconds(1_000_000_000_000_000_000))
            }
            #expect(impatient?.code == "out_of_range")
        }
    }
}
