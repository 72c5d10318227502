/// All calls of the API.
///
/// Calls about devices, sessions and keys have one address under /v1, from the whole to the part:
///
/// - `/v1/devices/{device}/…`: what belongs to a device, such as its broadcast.
/// - `/v1/sessions/{id}/…`: a session, and everything made from its stream.
/// - `/v1/library/…`: recordings.
/// - `/v1/auth`, `/v1/keys`, `/v1/pairing`, `/v1/tunnel`, `/v1/drain`: the caller, and the relay itself.
///
/// They also have an alias outside /v1 for scripts and people. There the device is an argument, and may be the default
/// one. The other calls have the addresses that monitors, browsers and service managers expect.
package enum Routes {
    /// All calls, in the order of openapi.json.
    package static let all =
        broadcasts + sessions + viewers + waits + actions + clipboard + applications + library + playlists
        + links + events + access + keys + pairing + tunnel + monitoring + page
}
