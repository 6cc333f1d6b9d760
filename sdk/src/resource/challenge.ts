import { CountersignError } from '../shared/error.ts'

/** Error of a rejected request, with its status and headers. If it is thrown, Express and Fastify respond with them. */
export class Challenge extends CountersignError {
  override readonly status: 401 | 403
  readonly headers: { 'www-authenticate': string }
  readonly body: { error: string; error_description: string }

  constructor(code: 'invalid_token' | 'insufficient_scope', description: string, parameters: Record<string, string>) {
    const status = code === 'invalid_token' ? 401 : 403
    super({ code, description, status })
    this.status = status
    this.body = { error: code, error_description: description }
    const written = Object.entries(parameters).map(([name, value]) => ` ${name}="${value}"`)
    this.headers = { 'www-authenticate': `Bearer${written.join(',')}` }
  }
}

export type Challenges = ReturnType<typeof createChallenges>

/** Returns the challenge for a missing or insufficient token (RFC 6750 §3), with the URL of the resource metadata. */
export function createChallenges(metadataUrl?: string) {
  // RFC 9728 §5.1
  const where: Record<string, string> = metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }
  return {
    /** A request without a token gets no error code (RFC 6750 §3.1). */
    noToken: () => new Challenge('invalid_token', 'A bearer token is required.', where),
    invalidToken: (description: string) =>
      new Challenge('invalid_token', description, {
        error: 'invalid_token',
        error_description: description,
        ...where,
      }),
    insufficientScope: (scope: string) =>
      new Challenge('insufficient_scope', 'The token does not have the required scope.', {
        error: 'insufficient_scope',
        error_description: 'The token does not have the required scope.',
        scope,
        ...where,
      }),
  }
}
