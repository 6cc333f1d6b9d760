import type { MasterKey } from '@countersign/keys/master-key'
import type { DeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { isOver, waitForApproval, cancelApproval } from '../../lib/keys/unlock.ts'
import { useActions } from '../form/use-actions.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

export type DeviceRequestResult = 'expired' | 'refused' | 'altered'
/** What the requesting device waits for, or how the request ended. */
export type DeviceRequestState =
  | { at: 'answer' }
  /** Waits until the user types these digits on the other device. */
  | { at: 'digits'; digits: string }
  /** Waits until the user types here what the other device then shows. */
  | { at: 'confirmation'; expected: string; confirm: () => void; giveUp: () => void }
  | { at: 'end'; end: DeviceRequestResult }

type Waiting = { userId: string; signal: AbortSignal; show: (request: DeviceRequestState) => void }

/** Requests to be unlocked by the user's other devices, until one of them approves or the page is left. */
export function useDeviceRequest(userId: string, onOpened: (masterKey: MasterKey) => unknown) {
  const [request, show] = useState<DeviceRequestState>({ at: 'answer' })
  const doing = useActions()
  const controller = useRef(new AbortController())
  const send = {
    name: 'ask-device',
    do: async () => {
      const masterKey = await requestMasterKey({ userId, signal: controller.current.signal, show })
      if (masterKey) await onOpened(masterKey)
    },
  }
  useEffect(() => {
    void doing.perform(send)
    return () => controller.current.abort()
  }, [])
  return { request, doing, send }
}

/** Returns the master key if another device has sent it. */
async function requestMasterKey(waiting: Waiting): Promise<MasterKey | undefined> {
  const { signal, show } = waiting
  const vault = await loadVault()
  const began = performance.now()
  show({ at: 'answer' })
  try {
    return await receive(waiting, vault)
  } catch (error) {
    if (signal.aborted) return undefined
    if (error instanceof vault.TranscriptMismatchError || error instanceof vault.DecryptionError)
      show({ at: 'end', end: 'altered' })
    else if (isOver(error)) show({ at: 'end', end: endOf(performance.now() - began) })
    else throw error
    return undefined
  }
}

function endOf(milliseconds: number): DeviceRequestResult {
  return milliseconds < pageLimits.deviceApprovalLifetimeSeconds * 1000 ? 'refused' : 'expired'
}

async function receive({ userId, signal, show }: Waiting, vault: Awaited<ReturnType<typeof loadVault>>) {
  const own = await vault.generateEphemeralKeyPair()
  const opening = { publicKey: own.publicKey, nonce: vault.newNonce() }
  const body = { commitment: await vault.computeCommitment(opening) }
  const { approvalId } = await call('POST /api/account/device-approvals', { body })
  const params = { approvalId }
  try {
    const answer = await waitForApproval(approvalId, (approval) => approval.answer, signal)
    const { digits, confirmation, wrappingKey } = await vault.agreeAsRequester(own, {
      approvalId,
      userId,
      opening: opening,
      answer,
    })
    await call('POST /api/account/device-approvals/:approvalId/reveal', { params, body: opening })
    show({ at: 'digits', digits })
    await waitForApproval(approvalId, isSealed, signal)
    await untilConfirmed(confirmation, { signal, show }, () => new vault.TranscriptMismatchError())
    const { ciphertext } = await call('POST /api/account/device-approvals/:approvalId/take', { params })
    return await vault.unlockWithDevice(ciphertext, wrappingKey, { approvalId, userId })
  } catch (error) {
    await cancelApproval(approvalId)
    throw error
  }
}

/**
 * Another device with a master key of its own may have answered. Only the digits on the user's device prove that the
 * answer is from there, because it shows them only after it received the right digits.
 */
function untilConfirmed(
  expected: string,
  { signal, show }: Pick<Waiting, 'signal' | 'show'>,
  failure: () => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    show({ at: 'confirmation', expected, confirm: resolve, giveUp: () => reject(failure()) })
  })
}

function isSealed({ sealed }: DeviceApproval): true | null {
  return sealed || null
}
