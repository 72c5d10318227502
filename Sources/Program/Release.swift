/// The version of this source tree, shared by agent, relay and command.
package enum Release {
    package static let current = "0.1.0"
}
