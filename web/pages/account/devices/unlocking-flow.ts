import type { Agreement } from '@countersign/keys/device-approval'
import type { WaitingDevice } from '@countersign/protocol/accounts/device-approvals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, Refused } from '../../../lib/call.ts'
import { isOver, untilApproval, withdrawApproval } from '../../../lib/device-approval.ts'
import { reauthenticate } from '../../../lib/passkey.ts'
import { nextStep, type Event, type Step } from './unlocking-steps.ts'

const loadVault = () => import('../../../lib/vault.ts')

/** The step on which this device unlocks another, and all that can be done about it. */
export function useUnlocking(userId: string) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const gone = useRef(new AbortController())
  useEffect(() => () => gone.current.abort(), [])

  /** Agrees with the device on what it has to show; answers once it does, or it is over. */
  async function agree(device: WaitingDevice) {
    gone.current = new AbortController()
    const { signal } = gone.current
    const { NotTheSame } = await loadVault()
    try {
      const agreement = await agreeWith(device, userId, signal)
      if (!signal.aborted) go({ type: 'agreed', agreement })
    } catch (error) {
      if (signal.aborted) return
      const altered = error instanceof NotTheSame
      if (!altered && !isTooLate(error)) throw error
      go({ type: 'ended', end: altered ? 'altered' : 'gone' })
      if (altered) await withdrawApproval(device.approvalId)
    }
  }

  /** They are compared here alone: nobody else learns what was typed. */
  async function compare({ device, agreement, triesLeft }: Extract<Step, { at: 'compare' }>, digits: string) {
    if (digits === agreement.digits) return unlock(device, agreement)
    go({ type: 'wrong digits' })
    if (triesLeft === 1) await withdrawApproval(device.approvalId)
    return 'wrong' as const
  }

  /** One touch both proves who does it, and opens the keys. */
  async function unlock({ approvalId }: WaitingDevice, { wrappingKey }: Agreement) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, userId)
    if (!masterKey) return 'opens nothing' as const
    const ciphertext = await masterKey.handOver(wrappingKey, approvalId).finally(() => masterKey.forget())
    const given = { params: { approvalId }, body: { ciphertext } }
    const sent = await call('POST /api/account/device-approvals/:approvalId/wrap', given).then(() => true, falseIfOver)
    go(sent ? { type: 'sent' } : { type: 'ended', end: 'gone' })
    return undefined
  }

  /** Whoever leaves before the end, does so for both devices. */
  async function leave() {
    gone.current.abort()
    go({ type: 'left' })
    if (step.at === 'agree' || step.at === 'compare') await withdrawApproval(step.device.approvalId)
  }

  return { step, approve: (device: WaitingDevice) => go({ type: 'approved', device }), agree, compare, leave }
}

/** What is compared with is the commitment as it was before this device said anything. */
async function agreeWith(
  { approvalId, commitment }: WaitingDevice,
  userId: string,
  gone: AbortSignal,
): Promise<Agreement> {
  const vault = await loadVault()
  const own = await vault.newApprovalKey()
  const answer = { publicKey: own.publicKey }
  const params = { approvalId }
  await call('POST /api/account/device-approvals/:approvalId/answer', { params, body: answer })
  const asked = await untilApproval(approvalId, ({ opening }) => opening, gone)
  return vault.agreeAsAnswerer(own, { approvalId, userId, asked, answer }, commitment)
}

/** Also where another device has answered first. */
function isTooLate(error: unknown): boolean {
  return isOver(error) || (error instanceof Refused && error.code === 'out_of_turn')
}

function falseIfOver(error: unknown): false {
  if (!isOver(error)) throw error
  return false
}
