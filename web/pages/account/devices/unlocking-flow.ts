import type { Agreement } from '@countersign/keys/device-approval'
import type { PendingDeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, ApiError } from '../../../lib/api/call.ts'
import { isOver, waitForApproval, cancelApproval } from '../../../lib/keys/unlock.ts'
import { reauthenticate } from '../../../lib/keys/passkey.ts'
import { nextStep, type Event, type Step } from './unlocking-steps.ts'

const loadVault = () => import('../../../lib/keys/key-vault.ts')

/** The current step of a device approval, and its actions. */
export function useDeviceApproval(userId: string) {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const go = (event: Event) => setStep((current) => nextStep(current, event))
  const controller = useRef(new AbortController())
  useEffect(() => () => controller.current.abort(), [])

  /** Exchanges keys with the device. Returns once it shows its digits, or the approval is over. */
  async function agree(device: PendingDeviceApproval) {
    controller.current = new AbortController()
    const { signal } = controller.current
    const { TranscriptMismatchError } = await loadVault()
    try {
      const agreement = await agreeWith(device, userId, signal)
      if (!signal.aborted) go({ type: 'agreed', agreement })
    } catch (error) {
      if (signal.aborted) return
      const altered = error instanceof TranscriptMismatchError
      if (!altered && !isTooLate(error)) throw error
      go({ type: 'ended', end: altered ? 'altered' : 'gone' })
      if (altered) await cancelApproval(device.approvalId)
    }
  }

  /** Compares the typed digits in this browser only. They are not sent. */
  async function compare({ device, agreement, triesLeft }: Extract<Step, { at: 'compare' }>, digits: string) {
    if (digits === agreement.digits) return unlock(device, agreement)
    go({ type: 'wrong digits' })
    if (triesLeft === 1) await cancelApproval(device.approvalId)
    return 'wrong' as const
  }

  /** One assertion both re-authenticates the user and unlocks the keys. */
  async function unlock({ approvalId }: PendingDeviceApproval, { wrappingKey }: Agreement) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, userId)
    if (!masterKey) return 'opens nothing' as const
    const ciphertext = await masterKey.handOver(wrappingKey, approvalId).finally(() => masterKey.forget())
    const given = { params: { approvalId }, body: { ciphertext } }
    const sent = await call('POST /api/account/device-approvals/:approvalId/wrap', given).then(() => true, falseIfOver)
    go(sent ? { type: 'sent' } : { type: 'ended', end: 'gone' })
    return undefined
  }

  /** Leaving before the end cancels the approval for both devices. */
  async function leave() {
    controller.current.abort()
    go({ type: 'left' })
    if (step.at === 'agree' || step.at === 'compare') await cancelApproval(step.device.approvalId)
  }

  return { step, approve: (device: PendingDeviceApproval) => go({ type: 'approved', device }), agree, compare, leave }
}

/** Verifies the device's public key with the commitment that it sent before this device sent anything. */
async function agreeWith(
  { approvalId, commitment }: PendingDeviceApproval,
  userId: string,
  signal: AbortSignal,
): Promise<Agreement> {
  const vault = await loadVault()
  const own = await vault.generateEphemeralKeyPair()
  const answer = { publicKey: own.publicKey }
  const params = { approvalId }
  await call('POST /api/account/device-approvals/:approvalId/answer', { params, body: answer })
  const opening = await waitForApproval(approvalId, (approval) => approval.opening, signal)
  return vault.agreeAsApprover(own, { approvalId, userId, opening: opening, answer }, commitment)
}

/** Returns whether the approval ended. Another device may have answered first. */
function isTooLate(error: unknown): boolean {
  return isOver(error) || (error instanceof ApiError && error.code === 'approval_step_out_of_order')
}

function falseIfOver(error: unknown): false {
  if (!isOver(error)) throw error
  return false
}
