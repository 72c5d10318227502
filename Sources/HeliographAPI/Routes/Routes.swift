/// All calls of the API.
///
/// Calls about devices, sessions and keys have one address under /v1, which goes from the whole to the part:
///
/// - `/v1/devices/{device}/…`: what belongs to a device, such as its broadcast.
/// - `/v1/sessions/{id}/…`: a session, and what is made of its stream.
/// - `/v1/auth`, `/v1/drain`: the caller, and the relay itself.
///
/// They have an alias outside /v1 as well, which scripts and people call. There the device is an argument, and may be the
/// default one. Monitors, browsers and service managers look for the other calls where they are.
package enum Routes {
    /// In the order of openapi.json.
    package static let all = broadcasts + sessions + viewers + access + monitoring + page
}
