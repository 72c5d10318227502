// What a call can fail with.

/**
 * The relay refused a call, or did not answer.
 *
 * `message` says what happened, for people; `code` is for programs.
 */
export class RelayError extends Error {
  /**
   * @param {string} code The problem's code, such as `unknown_session`; `unreachable` if the relay did not answer.
   * @param {string} message What happened, and what to do.
   * @param {number} [status] The HTTP status; 0 if there is none.
   * @param {Record<string, any>} [problem] All fields of the answer, such as `field` and `cause`.
   */
  constructor(code, message, status = 0, problem = {}) {
    super(message);
    this.name = "RelayError";
    this.code = code;
    this.status = status;
    this.field = problem.field;
    this.problem = problem;
  }

  /** The message as a sentence that others can follow. @type {string} */
  get sentence() {
    const text = this.message.charAt(0).toUpperCase() + this.message.slice(1);
    return /[.?!]$/.test(text) ? text : `${text}.`;
  }

  /**
   * Reads the error of an answer that is a problem.
   *
   * @param {Response} response
   * @returns {Promise<RelayError>}
   */
  static async of(response) {
    const problem = await response.json().catch(() => ({}));
    const message = problem.detail ?? `The relay answered with status ${response.status}.`;
    return new RelayError(problem.code ?? "http_error", message, response.status, problem);
  }
}

/** The screen did not do what a wait was for. */
export class WaitError extends Error {
  /** @param {import("./screen.js").WaitAnswer} answer The relay's answer. Its `outcome` says why. */
  constructor(answer) {
    const { until, outcome, waitedMs } = answer;
    super(`The screen was not "${until}" within ${(waitedMs / 1000).toFixed(1)} s (${outcome}).`);
    this.name = "WaitError";
    /** @type {"timeout" | "source_lost" | "ended"} */
    this.outcome = outcome;
    this.answer = answer;
  }
}
