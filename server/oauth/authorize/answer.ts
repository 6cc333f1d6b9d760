import type { Leaving } from '@countersign/protocol/pages'
import { refusals } from '#platform/refusal.ts'

/** How an answer reaches the app: in the query of its redirect URI, or as a form that the browser posts there. */
export type ResponseMode = 'query' | 'form_post'

export const responseModes = ['query', 'form_post'] as const satisfies ResponseMode[]

type Fields = Record<string, string | undefined>

const refuse = refusals({ invalid_request: [400, 'The response_mode is query or form_post.'] })

/** The response mode that is asked for; `query` where nothing is. Refuses `invalid_request`. */
export function readResponseMode(redirectUri: string, asked: string | undefined): ResponseMode {
  const mode = responseModes.find((each) => each === (asked ?? 'query'))
  if (!mode) throw refuse.invalid_request()
  if (mode === 'form_post' && !isPostable(redirectUri))
    throw refuse.invalid_request({ sentence: 'A form can be posted to a web address only.' })
  return mode
}

/** Whether a form can be posted there. */
export function isPostable(redirectUri: string): boolean {
  return /^https?:/.test(redirectUri)
}

/**
 * An answer on its way to the app (RFC 6749 §4.1.2, RFC 9207 §2): a URL to go to, or one with a form to post there
 * (OAuth 2.0 Form Post Response Mode §2). What is undefined is left out.
 */
export function answerTo(redirectUri: string, mode: ResponseMode, fields: Fields): Leaving {
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  if (mode === 'form_post') return { url: redirectUri, fields: Object.fromEntries(given) }
  const url = new URL(redirectUri)
  for (const [name, value] of given) url.searchParams.append(name, value)
  return { url: url.href }
}
