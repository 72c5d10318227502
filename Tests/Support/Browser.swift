/// A headless browser with one page.
package protocol Browser: AnyObject {
    /// Whether there is one on this machine.
    static var isInstalled: Bool { get }

    /// The page's complaints: exceptions and console errors.
    var complaints: [String] { get }

    func open(_ address: String) throws

    /// Runs a script in each page that is opened from now on, before the page's own scripts.
    func beforePages(run script: String) throws

    /// Returns the value of a JavaScript expression. Waits for a promise for up to `seconds`.
    func evaluate(_ expression: String, seconds: Double) throws -> Any?

    /// Sets the size of the page's window, in CSS pixels.
    func resize(width: Int, height: Int) throws

    /// Moves the mouse there, and presses and releases its left button.
    func click(x: Double, y: Double) throws

    /// Ends the browser.
    func end()
}

/// Why a browser did not do what a test wanted.
package struct BrowserFailure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

extension Browser {
    /// Returns the value of a JavaScript expression. A promise must be fulfilled soon.
    package func evaluate(_ expression: String) throws -> Any? { try evaluate(expression, seconds: 0) }

    /// Waits until a JavaScript expression is true.
    package func wait(until expression: String) throws {
        let promise = """
            new Promise((done) => {
              const look = () => (\(expression)) ? done(true) : setTimeout(look, 50);
              look();
              setTimeout(() => done(false), 20000);
            })
            """
        guard try evaluate(promise, seconds: 20) as? Bool == true else {
            let text = try evaluate("document.body.innerText") ?? ""
            throw BrowserFailure(description: "never: \(expression). The page says: \(text)")
        }
    }
}
