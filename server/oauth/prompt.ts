import { limits } from '@countersign/protocol/formats/limits'
import type { Prompt } from '@countersign/protocol/pages'
import { refusals } from '#kernel/refusal.ts'

const prompts = ['none', 'login', 'consent', 'select_account'] as const satisfies Prompt[]

const refuse = refusals({
  invalid_request: [400, 'The parameter prompt has a value that is not known.'],
  reauthentication_required: [403, 'The app asks for a fresh proof that it is you. Use your passkey again.'],
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

type Asked = { prompts: Prompt[]; maxAgeSeconds: number | undefined }

/**
 * Refuses `reauthentication_required` where the person proved who they are too long ago for what the app asks. Whoever
 * has done so for this request may take some minutes to read what they consent to.
 */
export function requireRecentProof({ prompts: asked, maxAgeSeconds }: Asked, authTime: Date, now: Date): void {
  const oldestSeconds = asked.includes('login') ? 0 : maxAgeSeconds
  if (oldestSeconds === undefined) return
  const ageSeconds = (now.getTime() - authTime.getTime()) / 1000
  if (ageSeconds > Math.max(oldestSeconds, limits.freshAuthenticationSeconds)) throw refuse.reauthentication_required()
}
