import CLibAV
import Media

/// libavcodec and libavutil, and separately libavfilter, loaded into the process on first use.
///
/// They triple the start-up time of a process, and an agent that encodes with x264 or x265 does not need them.
struct LibavLibrary: Sendable {
    let functions: clibav_functions

    /// The reason why a library could not be loaded.
    struct Absence: Error {
        let reason: String
    }

    private static let loaded: Result<LibavLibrary, Absence> = {
        var functions = clibav_functions()
        if let reason = clibav_load(&functions) {
            return .failure(Absence(reason: "libavcodec cannot be loaded: \(String(cString: reason))"))
        }
        return .success(LibavLibrary(functions: functions))
    }()

    private static let loadedFilters: Result<clibav_filter_functions, Absence> = {
        var functions = clibav_filter_functions()
        if let reason = clibav_load_filters(&functions) {
            return .failure(Absence(reason: "libavfilter cannot be loaded: \(String(cString: reason))"))
        }
        return .success(functions)
    }()

    static func load() throws(Absence) -> LibavLibrary { try loaded.get() }

    func loadFilters() throws(Absence) -> clibav_filter_functions { try Self.loadedFilters.get() }

    /// Returns the encoder with that name, if it is for H.264 or H.265.
    func codec(named name: String) -> (codec: UnsafePointer<AVCodec>, Codec)? {
        guard let codec = functions.avcodec_find_encoder_by_name(name) else { return nil }
        switch codec.pointee.id {
        case AV_CODEC_ID_H264: return (codec, .h264)
        case AV_CODEC_ID_HEVC: return (codec, .h265)
        default: return nil
        }
    }

    /// Returns the meaning of a call's result, with the text that this thread logged meanwhile.
    func message(for status: Int32) -> String {
        let logged = String(cString: clibav_take_message())
        var text = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
        _ = functions.av_strerror(status, &text, text.count)
        let meaning = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return logged.isEmpty ? meaning : "\(logged) (\(meaning))"
    }
}
