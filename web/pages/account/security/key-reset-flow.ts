import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import type { NewKeys } from './new-keys.ts'
import type { AccountData, SectionProps } from '../account-data.ts'
import { fetchPendingItems } from '../pending-items.ts'
import { resettingPasskey } from './resetting-passkey.ts'

const loadNewKeys = () => import('./new-keys.ts')

/** Nothing is stored before the last step is done, so the user can leave at any step. */
export type Step = { at: 'rest' } | { at: 'explain' } | { at: 'save code'; recoveryCode: string }

/** The current step of starting with new keys after a recovery, and its actions. */
export function useKeyReset(
  { session, passkeys }: AccountData,
  onChange: SectionProps['onChange'],
  onDone: () => void,
) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const keys = useRef<NewKeys | undefined>(undefined)
  const { userId } = session.user
  useEffect(() => forget, [])

  function forget() {
    keys.current?.masterKey.forget()
    keys.current = undefined
  }

  async function generate() {
    const { newKeys } = await loadNewKeys()
    forget()
    keys.current = await newKeys(userId)
    setStep({ at: 'save code', recoveryCode: keys.current.recoveryCode })
  }

  async function confirm() {
    const passkey = resettingPasskey(passkeys)
    if (!keys.current || !passkey) return
    const { resetKeys } = await loadNewKeys()
    await resetKeys({ userId, credentialId: passkey.credentialId }, keys.current)
    forget()
    const changed = await readChanged()
    onChange((current) => ({ ...current, ...changed, session: { ...current.session, ...changed.session } }))
    setStep({ at: 'rest' })
    onDone()
  }

  function cancel() {
    forget()
    setStep({ at: 'rest' })
  }

  return { step, explain: () => setStep({ at: 'explain' }), generate, confirm, cancel }
}

/** Reads what a reset changes. */
async function readChanged() {
  const [session, { passkeys }, { keys }, pending] = await Promise.all([
    call('GET /api/auth/session', {}),
    call('GET /api/auth/passkeys', {}),
    call('GET /api/signing/keys', {}),
    fetchPendingItems(),
  ])
  const recoverySince = session.recoveryCode?.confirmedAt ?? null
  return { session, passkeys, signingKeys: keys, ...pending, recoverySince, codeOpensKeys: true }
}
