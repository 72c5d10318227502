/// All calls of the API.
///
/// Every call is at one address under /v1, which says what the call is about, from the whole to the part:
///
/// - `/v1/devices/{device}/…`: what belongs to a device, such as its broadcast.
/// - `/v1/sessions/{id}/…`: a session, and what is made of its stream.
/// - `/v1/auth`, `/v1/drain`: the caller, and the relay itself.
///
/// A GET reads, and what it reads is a noun; a call that does something ends with a verb, unless its method says it. The
/// calls that people type have an alias outside /v1. Its device is an argument, and may be the default one.
package enum Routes {
    /// In the order of openapi.json.
    package static let all = broadcasts + sessions + viewers + access + monitoring + page
}
