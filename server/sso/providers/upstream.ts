import { cleanDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { refusals } from '#platform/refusal.ts'

/**
 * What the provider of an organization says of a person. `subject` is its own name for them, which stays theirs; the
 * address may change hands, and names nobody.
 */
export type UpstreamPerson = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string | undefined
}

/**
 * What a provider's answer is refused with, whichever protocol it speaks. `because` tells whoever looks after the
 * connection, in a word or two, what was wrong.
 */
export const refuse = refusals({
  sso_answer_mismatch: [400, 'This answer belongs to another sign-in. Start again.'],
  sso_answer_invalid: [
    401,
    'What your organization has answered cannot be trusted. Ask whoever looks after its sign-in.',
  ],
  sso_denied: [403, 'Your organization has not let you in.'],
  sso_provider_failed: [502, 'The sign-in of your organization does not work at present. Try again later.'],
  sso_provider_slow: [504, 'The sign-in of your organization does not answer. Try again later.'],
})

export const because = (what: string) => ({ fields: { because: what } })

const subjectCharactersMax = 255
/** What a provider said, as it may be kept. Refuses `sso_answer_invalid` where it names nobody. */
export function readUpstreamPerson(said: {
  subject: string
  email: unknown
  emailVerified: unknown
  displayName: unknown
}): UpstreamPerson {
  const { subject, email, emailVerified, displayName } = said
  if (
    subject.trim() === '' ||
    subject.length > subjectCharactersMax ||
    !subject.isWellFormed() ||
    subject.includes('\0')
  )
    throw refuse.sso_answer_invalid(because('subject'))
  const address = typeof email === 'string' && isEmail(email) ? normalizeEmail(email) : undefined
  return {
    subject,
    email: address,
    emailVerified: address !== undefined && emailVerified === true,
    displayName: readName(displayName, address),
  }
}

/** The name that a provider gives, cleaned; the local part of the address where nothing is left of it. */
function readName(said: unknown, address: string | undefined): string | undefined {
  if (typeof said !== 'string' || said.trim() === '') return undefined
  return cleanDisplayName(said) ?? cleanDisplayName(address?.split('@')[0] ?? '')
}
