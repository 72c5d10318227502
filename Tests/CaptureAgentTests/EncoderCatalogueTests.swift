import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("The catalogue of encoders")
struct EncoderCatalogueTests {
    @Test(
        "finds that software encoders work, linked or through libavcodec",
        arguments: ["x264", "x265", "libx264", "libx265"]
    )
    func software(name: String) throws {
        let catalogue = EncoderCatalogue(entries: EncoderEntry.listed, resolve: EncoderEntry.libav(named:))
        let entry = try #require(catalogue.entry(named: name))
        let report = catalogue.report(on: entry)
        #expect(report == EncoderReport(name: name, codec: entry.codec, available: true))
        #expect(entry.kind == .software)
    }

    @Test("knows no encoder of another codec, nor one that is not there", arguments: ["mpeg4", "libx266", ""])
    func unknown(name: String) {
        let catalogue = EncoderCatalogue(entries: EncoderEntry.listed, resolve: EncoderEntry.libav(named:))
        #expect(catalogue.entry(named: name) == nil)
    }

    @Test("says why an encoder that takes no video of this kind is not available")
    func otherPictures() throws {
        let entry = try #require(EncoderEntry.libav(named: "libx264rgb"))
        let report = EncoderCatalogue(entries: [.x264]).report(on: entry)
        #expect(report.reason?.contains("4:2:0") == true)
    }

    @Test("has a sentence for every listed encoder that does not work here")
    func listed() throws {
        let catalogue = EncoderCatalogue(entries: EncoderEntry.listed)
        catalogue.probeAll(stop: try Event())
        let reports = catalogue.reports
        #expect(reports.count == EncoderEntry.listed.count)
        for report in reports {
            #expect(report.available == (report.reason == nil))
            #expect(report.reason?.isEmpty != true)
        }
        #expect(reports.filter(\.available).map(\.name).contains("x264"))
    }

    @Test("says that a VA-API device cannot be opened, and which")
    func brokenDevice() {
        let settings = EncoderSettings(
            codec: .h264,
            size: PictureSize(width: 320, height: 240),
            fps: 30,
            bitrate: 1_000_000
        )
        #expect {
            try LibavEncoder(name: "h264_vaapi", settings: settings, devices: ["/dev/null"])
        } throws: { error in
            "\(error)".contains("/dev/null")
        }
    }

    @Test("probes each encoder once, however many ask, and tells its owner after each probe")
    func once() async throws {
        let plan = FailurePlan()
        let told = Mutex<[[String]]>([])
        let catalogue = EncoderCatalogue(
            entries: [plan.entry(name: "gpu", kind: .hardware), .x264],
            changed: { reports in told.withLock { $0.append(reports.map(\.name)) } }
        )
        let stop = try Event()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { catalogue.probeAll(stop: stop) }
            }
        }
        #expect(plan.openings == 1)
        #expect(told.withLock { $0.count } == 2)
        #expect(told.withLock { $0.last.map(Set.init) } == ["gpu", "x264"])
    }

    @Test("stops probing when it is told to")
    func stopped() throws {
        let stop = try Event()
        stop.set()
        let catalogue = EncoderCatalogue(entries: [.x264])
        catalogue.probeAll(stop: stop)
        #expect(catalogue.reports.isEmpty)
    }

    @Test("does not trust an encoder that makes no keyframe when told to")
    func noKeyframes() {
        final class Deaf: VideoEncoder {
            let name = "deaf"
            let encoder: X264Encoder
            init(_ settings: EncoderSettings) throws(EncoderError) { encoder = try X264Encoder(settings) }
            var settings: EncoderSettings { encoder.settings }
            func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
                try encoder.encode(picture, forceKeyframe: false)
            }
            func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool { false }
        }
        let entry = EncoderEntry(name: "deaf", codec: .h264, kind: .hardware) { settings throws(EncoderError) in
            try Deaf(settings)
        }
        let report = EncoderCatalogue(entries: [.x264]).report(on: entry)
        #expect(report.reason?.contains("keyframes on request") == true)
    }
}
