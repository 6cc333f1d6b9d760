/** How a request ended, as log, metrics and traces tell it: its path by its pattern, and nothing that it said. */
export type Answered = {
  requestId: string
  method: string
  /** The pattern of the path, or `none` where no route is. */
  route: string
  status: number
  milliseconds: number
  /** The code of the refusal, where it was refused. */
  refusal?: string
}

/** Who is told of what happens, beside the log. Each is called on the hot path, and must cost next to nothing. */
export type Telemetry = {
  answered: (answered: Answered, traceparent: string | undefined) => void
  /** A grant at the token endpoint: its kind, and `issued` or the code of the refusal. */
  granted: (kind: string, outcome: string) => void
  /** A rate limit that refused. */
  limited: (what: string) => void
  /** An attempt to deliver a webhook, and what came of it. */
  webhookAttempted: (outcome: 'delivered' | 'put_off' | 'given_up' | 'gone') => void
  /** An attempt to deliver a logout token, and what came of it. */
  logoutAttempted: (outcome: 'delivered' | 'put_off' | 'given_up') => void
}

/** Where nobody wants to know. */
export const noTelemetry: Telemetry = {
  answered: () => {},
  granted: () => {},
  limited: () => {},
  webhookAttempted: () => {},
  logoutAttempted: () => {},
}
