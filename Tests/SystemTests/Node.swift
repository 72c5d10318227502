import Foundation

/// Node.js, which runs the tests of the JavaScript client and the server of its example.
enum Node {
    static let program = URL(fileURLWithPath: "/usr/bin/node")
}
