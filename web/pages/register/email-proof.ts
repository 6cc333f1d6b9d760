import { useState } from 'preact/hooks'
import { ApiError, call } from '../../lib/api/call.ts'
import { explainedBy } from '../../lib/api/explained.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { type Admission, needsEmail } from './admission.ts'
import type { Event, SentCode } from './steps.ts'

type Proving = {
  admission: Admission
  /** Sentences for the errors of an address or a proof that is of no use. */
  refused: Record<string, string>
  advance: (event: Event) => void
}

/** Proves an address by a mailed code. The registration presents the proof besides its other admission. */
export function useEmailProof({ admission, refused, advance }: Proving) {
  const explain = explainedBy(refused)
  const isOfProof = (error: unknown) => error instanceof ApiError && Object.hasOwn(refused, error.code)
  const [emailProof, setEmailProof] = useState<string>()
  const presented = { ...admission, ...(emailProof !== undefined && { emailProof }) }
  const beginning = { needsEmail: emailProof === undefined && needsEmail(admission, readSiteSettings()) }

  async function sendCode(email: string) {
    const sent = await call('POST /api/auth/register/email', { body: { email } }).catch(passIfOpen).catch(explain)
    advance(sent ? { type: 'code sent', sent } : { type: 'address settled' })
  }

  async function verifyCode({ verificationId }: SentCode, code: string) {
    const proved = await call('POST /api/auth/register/email/verify', { body: { verificationId, code } })
    setEmailProof(proved.emailProof)
    advance({ type: 'address settled' })
  }

  /** Forgets a proof that has expired, or whose domain is not in the list any more. */
  function dropRefused(error: unknown): never {
    if (isOfProof(error)) setEmailProof(undefined)
    return explain(error)
  }

  /** The same before there is a passkey: the user proves an address at once. */
  function askAgain(error: unknown): never {
    if (isOfProof(error)) advance({ type: 'proof refused' })
    return dropRefused(error)
  }

  return { presented, beginning, sendCode, verifyCode, dropRefused, askAgain }
}

/** Operators may have opened the registration since the page was loaded. */
function passIfOpen(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'email_not_required')) throw error
}
