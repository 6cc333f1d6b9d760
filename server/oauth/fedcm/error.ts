import type { Dialect } from '#platform/http/http.ts'
import type { Refusal } from '#platform/refusal.ts'

/** What a browser has words of its own for (FedCM §4.2.1, IdentityCredentialError). */
const codes = ['access_denied', 'invalid_request', 'unauthorized_client', 'server_error', 'temporarily_unavailable']

/**
 * A refusal as a browser shows it to a person: a code, and the page that says what can be done. The code by both names:
 * the specification calls it `error` by now, and browsers before that `code`.
 */
export function browserDialect({ origin }: URL): Dialect {
  return {
    mediaType: 'application/json',
    tell(refusal) {
      const code = codeOf(refusal)
      return { error: { error: code, code, url: `${origin}/fedcm/error?code=${code}` } }
    },
  }
}

function codeOf({ code, status }: Refusal): string {
  if (codes.includes(code)) return code
  if (status === 429) return 'temporarily_unavailable'
  return status === 401 || status === 403 ? 'access_denied' : 'invalid_request'
}
