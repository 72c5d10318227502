import Media

/// The private options for live encoding with each libavcodec encoder.
///
/// They ask for each picture at once, one reference, no B-pictures, IDR pictures on request, and parameter sets in the
/// stream. Names and values are those of `ffmpeg -h encoder=…`.
///
/// Options of hardware encoders come from libavcodec's documentation and sources and have never run on hardware. The
/// probe finds what they do not achieve.
enum LibavOptions {
    /// libavcodec's names either end in the interface (`h264_vaapi`) or are whole library names (`libx264`).
    static func options(for encoder: String, codec: Codec) -> [String: String] {
        switch encoder {
        case "libx264": libx264
        case "libx265": libx265
        default:
            switch encoder.split(separator: "_").last {
            case "vaapi": vaapi
            case "nvenc": nvenc
            case "qsv": qsv.merging(codec == .h264 ? qsvH264 : qsvH265) { $1 }
            default: [:]
            }
        }
    }

    /// Returns whether the encoder aims at a quality below the cap, rather than at the bitrate itself.
    static func aimsAtQuality(_ encoder: String) -> Bool {
        encoder == "libx264" || encoder == "libx265" || encoder.hasSuffix("_nvenc")
    }

    /// Returns whether an open encoder accepts another cap, according to tests.
    static func changesCap(_ encoder: String) -> Bool { encoder == "libx264" }

    private static let libx264 = [
        "preset": "ultrafast", "tune": "zerolatency", "crf": "23", "forced-idr": "1",
        "x264-params": "scenecut=0:sliced-threads=0:force-cfr=1",
    ]

    private static let libx265 = [
        "preset": "ultrafast", "tune": "zerolatency", "crf": "24", "forced-idr": "1",
        "x265-params":
            "min-cu-size=8:repeat-headers=1:info=0:scenecut=0:ref=1:temporal-mvp=0:open-gop=0:pools=none:frame-threads=1:wpp=0",
    ]

    private static let vaapi = ["async_depth": "1", "aud": "0", "sei": "0"]

    private static let nvenc = [
        "preset": "p2", "tune": "ull", "rc": "vbr", "cq": "23", "zerolatency": "1", "delay": "0", "forced-idr": "1",
        "rc-lookahead": "0", "no-scenecut": "1", "b_ref_mode": "disabled", "dpb_size": "1", "aud": "0",
        "a53cc": "0", "extra_sei": "0",
    ]

    private static let qsv = [
        "preset": "veryfast", "async_depth": "1", "forced_idr": "1", "idr_interval": "0", "pic_timing_sei": "0",
        "aud": "0",
    ]

    private static let qsvH264 = ["look_ahead": "0", "max_dec_frame_buffering": "1", "a53cc": "0"]

    /// Generalised P-pictures have the syntax of B-pictures.
    private static let qsvH265 = ["gpb": "0"]
}
