import { limits } from '@countersign/protocol/formats/limits'
import type { Prompt } from '@countersign/protocol/pages'
import { numericDate } from '#platform/clock.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from '#accounts/sessions/session.ts'

const prompts = ['none', 'login', 'consent', 'select_account'] as const satisfies Prompt[]

const refuse = refusals({
  invalid_request: [400, 'The parameter prompt has a value that is not known.'],
  reauthentication_required: [403, 'The app asks you to use your passkey for this sign-in.'],
  login_required: [403, 'The app asks for a newer sign-in, and the person may not be asked.'],
})

/** The values of `prompt` (OpenID Connect Core §3.1.2.1). Refuses `invalid_request`. */
export function readPrompts(list: string | undefined): Prompt[] {
  const asked = new Set((list ?? '').split(' ').filter((value) => value !== ''))
  const known = prompts.filter((each) => asked.has(each))
  if (known.length < asked.size) throw refuse.invalid_request()
  if (asked.has('none') && asked.size > 1)
    throw refuse.invalid_request({ sentence: 'With prompt none there can be no other prompt.' })
  return known
}

/** The value of `max_age`, in seconds. Refuses `invalid_request`. */
export function readMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw refuse.invalid_request({ sentence: 'max_age is a whole number of seconds.' })
  return Number(text)
}

type Asked = { prompts: Prompt[]; maxAgeSeconds: number | undefined; requestUri: string | undefined }
type Proved = Pick<Session, 'authTime' | 'provedRequestSha256'>

/**
 * Refuses an authentication that is not what the app asked for (OpenID Connect Core §3.1.2.1): with `prompt=login` the
 * passkey must have been used for this very request, with `max_age` for it, or so many seconds ago at the most. What
 * was made for the request counts for some minutes, in which a person may read what they consent to. Refuses
 * `reauthentication_required`, or `login_required` where nothing may be asked.
 */
export function requireProof(asked: Asked, proved: Proved, now: Date): void {
  const { prompts: given, maxAgeSeconds } = asked
  if (!given.includes('login') && maxAgeSeconds === undefined) return
  // Counted as `auth_time` tells it, in whole seconds, so that the app comes to the same.
  const ageSeconds = numericDate(now) - numericDate(proved.authTime)
  if (isMadeFor(asked, proved) && ageSeconds <= limits.freshAuthenticationSeconds) return
  if (!given.includes('login') && maxAgeSeconds !== undefined && ageSeconds <= maxAgeSeconds) return
  throw given.includes('none') ? refuse.login_required() : refuse.reauthentication_required()
}

function isMadeFor({ requestUri }: Asked, { provedRequestSha256 }: Proved): boolean {
  if (requestUri === undefined || provedRequestSha256 === null) return false
  return equalBytes(provedRequestSha256, sha256(requestUri))
}
