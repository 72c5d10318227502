/// The release of this source tree: agent, relay and command are released together.
package enum Release {
    package static let current = "0.1.0"
}
