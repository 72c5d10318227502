import Foundation
import HeliographAPI
import RelayTestSupport
import TestSupport
import Testing

@Suite("The model of the API")
struct ContractDocumentTests {
    private static let file = Programs.repository.appendingPathComponent("Sources/Relay/HTTP/openapi.json")
    private static let isWritten = ProcessInfo.processInfo.environment["HELIOGRAPH_WRITE_REFERENCE"] != nil

    @Test("makes openapi.json; Scripts/api-reference writes it")
    func document() throws {
        let text = try ContractDocument.text()
        if Self.isWritten { try text.write(to: Self.file, atomically: true, encoding: .utf8) }
        #expect(try String(contentsOf: Self.file, encoding: .utf8) == text)
    }

    private static var change: SessionChange {
        var change = SessionChange()
        (change.width, change.height, change.maxPixels) = (.becomes(nil), .becomes(nil), .becomes(nil))
        return change
    }

    private static let models: [any APIModel] = [
        AgentCounters(), AgentReport(), BroadcastList(), BroadcastReport(), BroadcastStart(), BroadcastStop(),
        BroadcastSummary(),
        CallerReport(), CertificateReport(), DeviceArgument(), DrainRequest(), Draining(), ExitReport(),
        HeartbeatReport(), HeartbeatReport.Rates(), HeartbeatReport.Session(), HistogramReport(), KeyframeRequested(),
        LinkReport(), Liveness(), LoggedOut(), Login(), MotionJPEGQuery(), NoArguments(), PercentilesReport(),
        RatesReport(), ReadinessReport(), ReadinessReport.Device(), RelayCounters(), RelayCounters.ViewersClosed(),
        ScreenEvent(), change, SessionList(), SessionReport(), SessionReport.Counters(), SessionReport.Latency(),
        SessionReport.Target(), SessionRequest(), SessionStart(), SnapshotQuery(), SourceReport(), SourceRequest(),
        StandbyReport(),
        StartedBroadcast(), StartedBroadcast.Timings(), StoppedBroadcast(), StoppedSession(), StoppedSessions(),
        StreamQuery(), TriedEncoder(), WaitQuery(), WebSocketQuery(), BriefSession(), BriefSessionList(),
        DeletedTemplate(), SignedLinkRequest(), SignedLinkReport(), TunnelReport(), TunnelState(), TunnelRequest(),
        NearbyRelay(), NearbyRelays(),
        KeyList(), KeyReport(), MadeKey(), KeyRequest(), PairingRequest(), ArmedPairing(), PairingReport(),
        PairingShare(), PairingAnswer(), PairingProof(), PairedClient(),
        ScreenWait(), ScreenWaitReport(),
        ScreenWaitReport.Box(), SessionListQuery(),
        SessionsStop(), TemplateList(), TemplateReport(), EventQuery(), EventReport(),
        ActionsRequest(), ReleaseQuery(), ActionsReport(), ReleaseReport(), InputDevicesReport(), AudioReport(),
        MicrophoneReport(),
        SoundLevelQuery(), SoundLevelReport(),
        ClipboardQuery(), ClipboardTake(), ClipboardSetReport(),
        LaunchRequest(), FocusRequest(), TerminateQuery(), ApplicationReport(), ApplicationList(),
        RecordingReport(), LibraryItem(), LibraryItem.Track(), LibraryItem.Gap(), LibraryPage(), LibraryChanges(),
        LibraryUsage(), LibraryUsage.Device(), LibraryClientReport(), LibraryClients(), PlaylistReport(),
        PlaylistList(),
        PlaylistList.Entry(), PlaylistRequest(),
        LibraryQuery(), LibraryChange(), ClipQuery(), LibraryChangesQuery(), CatalogueQuery(),
    ]

    /// Returns the fields of an object, or of all its variants.
    private static func fields(_ schema: Schema) -> [Field] {
        guard case .variants(let variants) = schema.form else { return schema.fields }
        return variants.flatMap(\.fields)
    }

    @Test("has types with the fields of their schemas", arguments: models.indices)
    func fields(index: Int) throws {
        let model = Self.models[index]
        let schema = type(of: model).schema
        let encoded = try JSONValue(encoding: model).members ?? []
        #expect(Set(encoded.map(\.name)) == Set(Self.fields(schema).map(\.name)), "\(type(of: model))")
        // Fields are in the same order, unless variants have them in different orders.
        guard case .object(let fields) = schema.form else { return }
        #expect(encoded.map(\.name) == fields.map(\.name), "\(type(of: model))")
        // A change has no defaults; it has the fields of a start.
        guard !(model is SessionChange) else { return }
        for field in fields {
            guard let standard = field.schema.standard else { continue }
            #expect(
                encoded.first { $0.name == field.name }?.value.text == standard.text,
                "\(type(of: model)).\(field.name)"
            )
        }
    }

    @Test("has a type for every object of openapi.json")
    func complete() {
        let names = Set(Self.models.compactMap { type(of: $0).schema.name })
        let components = Contract.current.document["components"]?["schemas"]?.members ?? []
        for component in components where component.value["properties"] != nil && component.name != "Problem" {
            #expect(names.contains(component.name), "\(component.name)")
        }
    }

    @Test("decodes every report from the JSON that it is encoded to", arguments: models.indices)
    func roundTrip(index: Int) throws {
        func check<Model: APIModel>(_ model: Model) throws {
            let encoded = try JSONValue(encoding: model)
            let decoded = try JSONDecoder().decode(Model.self, from: Data(encoded.text.utf8))
            #expect(try JSONValue(encoding: decoded) == encoded)
        }
        try check(Self.models[index])
    }
}
