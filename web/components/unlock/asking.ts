import type { MasterKey } from '@countersign/keys/master-key'
import type { DeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { limits } from '@countersign/protocol/formats/limits'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { isOver, untilApproval, withdrawApproval } from '../../lib/device-approval.ts'
import { useDoing } from '../form/doing.ts'

const loadVault = () => import('../../lib/vault.ts')

export type AskingEnd = 'expired' | 'refused' | 'altered'
/** What a device that asked is waiting for; or how it ended. */
export type Asking =
  | { at: 'answer' }
  /** That its owner types these there. */
  | { at: 'digits'; digits: string }
  /** That they type here what the other device then shows. */
  | { at: 'confirmation'; expected: string; confirm: () => void; giveUp: () => void }
  | { at: 'end'; end: AskingEnd }

type Waiting = { userId: string; gone: AbortSignal; show: (asking: Asking) => void }

/** Asks the person's other devices, from now until one has unlocked this one, or nobody waits here any more. */
export function useAsking(userId: string, onOpened: (masterKey: MasterKey) => unknown) {
  const [asking, show] = useState<Asking>({ at: 'answer' })
  const doing = useDoing()
  const gone = useRef(new AbortController())
  const ask = {
    name: 'ask-device',
    do: async () => {
      const masterKey = await askDevices({ userId, gone: gone.current.signal, show })
      if (masterKey) await onOpened(masterKey)
    },
  }
  useEffect(() => {
    void doing.perform(ask)
    return () => gone.current.abort()
  }, [])
  return { asking, doing, ask }
}

/** The master key, where another device has sent it. */
async function askDevices(waiting: Waiting): Promise<MasterKey | undefined> {
  const { gone, show } = waiting
  const vault = await loadVault()
  const began = performance.now()
  show({ at: 'answer' })
  try {
    return await receive(waiting, vault)
  } catch (error) {
    if (gone.aborted) return undefined
    if (error instanceof vault.NotTheSame || error instanceof vault.CannotOpen) show({ at: 'end', end: 'altered' })
    else if (isOver(error)) show({ at: 'end', end: endOf(performance.now() - began) })
    else throw error
    return undefined
  }
}

function endOf(milliseconds: number): AskingEnd {
  return milliseconds < limits.deviceApprovalLifetimeSeconds * 1000 ? 'refused' : 'expired'
}

async function receive({ userId, gone, show }: Waiting, vault: Awaited<ReturnType<typeof loadVault>>) {
  const own = await vault.newApprovalKey()
  const asked = { publicKey: own.publicKey, nonce: vault.newNonce() }
  const body = { commitment: await vault.commitmentTo(asked) }
  const { approvalId } = await call('POST /api/account/device-approvals', { body })
  const params = { approvalId }
  try {
    const answer = await untilApproval(approvalId, (approval) => approval.answer, gone)
    const { digits, confirmation, wrappingKey } = await vault.agreeAsAsker(own, { approvalId, userId, asked, answer })
    await call('POST /api/account/device-approvals/:approvalId/reveal', { params, body: asked })
    show({ at: 'digits', digits })
    await untilApproval(approvalId, isSealed, gone)
    await untilConfirmed(confirmation, { gone, show }, () => new vault.NotTheSame())
    const { ciphertext } = await call('POST /api/account/device-approvals/:approvalId/take', { params })
    return await vault.openHandedOver(ciphertext, wrappingKey, approvalId)
  } catch (error) {
    await withdrawApproval(approvalId)
    throw error
  }
}

/**
 * Whoever answered may have been somebody else, with a master key of their own. Only what the person reads on their
 * other device tells that it was that one, for it shows this after it was given the right digits alone.
 */
function untilConfirmed(
  expected: string,
  { gone, show }: Pick<Waiting, 'gone' | 'show'>,
  failure: () => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    gone.addEventListener('abort', () => reject(gone.reason))
    show({ at: 'confirmation', expected, confirm: resolve, giveUp: () => reject(failure()) })
  })
}

function isSealed({ sealed }: DeviceApproval): true | null {
  return sealed || null
}
