import HTTPTypes
import HeliographAPI
import Hummingbird

extension API {
    /// Serves the web page: the files of Sources/Relay/Page, which are compiled into the program. Some of them are
    /// links to the JavaScript client, Clients/js.
    func addPageRoutes(to routes: inout RouteTable) {
        for file in PageFile.all {
            let call = file.path == "/" ? Routes.getPage : Routes.getPageFile
            routes.respond(to: call, at: file.path) { [allowedOrigins] _, _, context in
                // A signed link opens one session on any page.
                let frames = context.link == nil ? allowedOrigins.sorted() : ["*"]
                return Response(
                    status: .ok,
                    headers: PageFile.headers(type: file.type, framedBy: frames),
                    body: ResponseBody(byteBuffer: file.bytes)
                )
            }
        }
    }
}

/// One file of the web page.
struct PageFile: Sendable {
    let path: String
    let type: String
    let bytes: ByteBuffer

    static let all: [PageFile] = [
        PageFile(path: "/", type: "text/html; charset=utf-8", PackageResources.index_html),
        PageFile(path: "/page/style.css", type: "text/css; charset=utf-8", PackageResources.style_css),
        PageFile(path: "/page/icon.svg", type: "image/svg+xml", PackageResources.icon_svg),
        script("absence", PackageResources.absence_js),
        script("access-view", PackageResources.access_view_js),
        script("addresses", PackageResources.addresses_js),
        script("app", PackageResources.app_js),
        script("chart", PackageResources.chart_js),
        script("control-bar", PackageResources.control_bar_js),
        script("copy", PackageResources.copy_js),
        script("dialog", PackageResources.dialog_js),
        script("dom", PackageResources.dom_js),
        script("embedded", PackageResources.embedded_js),
        script("farm", PackageResources.farm_js),
        script("figures", PackageResources.figures_js),
        script("filters", PackageResources.filters_js),
        script("forms", PackageResources.forms_js),
        script("full-screen", PackageResources.full_screen_js),
        script("gauge", PackageResources.gauge_js),
        script("glance", PackageResources.glance_js),
        script("item-view", PackageResources.item_view_js),
        script("labels", PackageResources.labels_js),
        script("library-view", PackageResources.library_view_js),
        script("memory", PackageResources.memory_js),
        script("page", PackageResources.page_js),
        script("picture-in-picture", PackageResources.picture_in_picture_js),
        script("places", PackageResources.places_js),
        script("preview", PackageResources.preview_js),
        script("recorder", PackageResources.recorder_js),
        script("repeat", PackageResources.repeat_js),
        script("session-view", PackageResources.session_view_js),
        script("settings", PackageResources.settings_js),
        script("share", PackageResources.share_js),
        script("shortcuts", PackageResources.shortcuts_js),
        script("site", PackageResources.site_js),
        script("sound-bar", PackageResources.sound_bar_js),
        script("speed-test", PackageResources.speed_test_js),
        script("stage", PackageResources.stage_js),
        script("tile", PackageResources.tile_js),
        script("timeline", PackageResources.timeline_js),
        script("undo", PackageResources.undo_js),
        script("wall-view", PackageResources.wall_view_js),
        script("watch", PackageResources.watch_js),
        script("words", PackageResources.words_js),
        script("clock", PackageResources.clock_js),
        script("closures", PackageResources.closures_js),
        script("control", PackageResources.control_js),
        script("decoder", PackageResources.decoder_js),
        script("device", PackageResources.device_js),
        script("errors", PackageResources.errors_js),
        script("events", PackageResources.events_js),
        script("fragments", PackageResources.fragments_js),
        script("gamepad", PackageResources.gamepad_js),
        script("heliograph", PackageResources.heliograph_js),
        script("hold", PackageResources.hold_js),
        script("input", PackageResources.input_js),
        script("jitter-buffer", PackageResources.jitter_buffer_js),
        script("keysyms", PackageResources.keysyms_js),
        script("library", PackageResources.library_js),
        script("margin", PackageResources.margin_js),
        script("messages", PackageResources.messages_js),
        script("mjpeg", PackageResources.mjpeg_js),
        script("paint", PackageResources.paint_js),
        script("pauses", PackageResources.pauses_js),
        script("player", PackageResources.player_js),
        script("players", PackageResources.players_js),
        script("relay", PackageResources.relay_js),
        script("screen", PackageResources.screen_js),
        script("session", PackageResources.session_js),
        script("skew", PackageResources.skew_js),
        script("sound", PackageResources.sound_js),
        script("sound-output", PackageResources.sound_output_js),
        script("sound-worklet", PackageResources.sound_worklet_js),
        script("speech", PackageResources.speech_js),
        script("speech-worklet", PackageResources.speech_worklet_js),
        script("statistics", PackageResources.statistics_js),
        script("storyboard", PackageResources.storyboard_js),
        script("stream", PackageResources.stream_js),
        script("wall", PackageResources.wall_js),
    ]

    private static func script(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(path: "/page/\(name).js", type: "text/javascript; charset=utf-8", bytes)
    }

    private init(path: String, type: String, _ bytes: [UInt8]) {
        self.path = path
        self.type = type
        self.bytes = ByteBuffer(bytes: bytes)
    }

    /// Returns header fields that allow only the relay's own files to run, and block all other addresses.
    ///
    /// - Parameter origins: The pages that may show this one in a frame.
    ///
    /// `connect-src 'self'` covers WebSockets of the page's own host (Content Security Policy Level 3).
    static func headers(type: String, framedBy origins: [String]) -> HTTPFields {
        let policy = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
            "media-src 'self' blob:",
            "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors \(origins.isEmpty ? "'none'" : origins.joined(separator: " "))",
        ]
        return [
            .contentType: type, .cacheControl: "no-store", .contentSecurityPolicy: policy.joined(separator: "; "),
            .xContentTypeOptions: "nosniff", HTTPField.Name("Referrer-Policy")!: "no-referrer",
            HTTPField.Name("Cross-Origin-Resource-Policy")!: "same-origin",
        ]
    }
}
