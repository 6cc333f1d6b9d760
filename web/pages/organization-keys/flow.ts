import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useState } from 'preact/hooks'
import { showUser } from '../../components/frame/shown-user.ts'
import type { StopReason } from '../../lib/acts/act.ts'
import { ActStoppedError } from '../../lib/acts/inline.ts'
import { callBusiness } from '../../lib/api/business-call.ts'
import { call } from '../../lib/api/call.ts'
import { reauthenticate } from '../../lib/keys/passkey.ts'
import { fetchOwnSession } from '../../lib/session/session.ts'
import { parseKeyTaskQuery, keyTaskOf, type KeyTaskQuery } from './task.ts'
import {
  keyMessage,
  hasEncryptionKey,
  unlockMemberKeys,
  makeKey,
  openKey,
  listOtherMembers,
  loadMissingKeyWraps,
  selectShown,
  shareOrganizationKey,
  type MissingKeyWraps,
  type Named,
} from './sharing.ts'

const loadVault = () => import('../../lib/keys/key-vault.ts')

/** The task to perform, the organization, and the member who performs it. */
export type Task = {
  query: KeyTaskQuery
  work:
    | { what: 'make'; replaces: string | undefined; members: Named[] }
    | { what: 'share'; shares: MissingKeyWraps[] }
    | { what: 'prepare' }
  organization: string
  userId: string
}

/** The steps of creating or sharing organization keys. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'nothing to do' }
  | { at: 'confirm'; task: Task }
  | { at: 'enter code'; task: Task; keyWraps: KeyWrap[] }
  | { at: 'stopped'; why: StopReason }

/** The current step, and its actions. */
export function useFlow(leave: () => void) {
  const [step, setStep] = useState<Step>({ at: 'look' })

  async function look() {
    const query = parseKeyTaskQuery(location.search)
    if (!query) return setStep({ at: 'nothing to do' })
    const session = await fetchOwnSession()
    if (!session) return setStep({ at: 'authenticate' })
    showUser(session.user)
    const task = await readTask(query)
    setStep(task ? { at: 'confirm', task: { ...task, userId: session.user.userId } } : { at: 'nothing to do' })
  }

  /** One assertion both re-authenticates the member and unlocks their keys. */
  async function openWithPasskey(task: Task) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, task.userId)
    if (!masterKey) return setStep({ at: 'enter code', task, keyWraps })
    await finish(task, masterKey)
  }

  /**
   * The keys are unlocked for this task only, and discarded even if it fails. After a failure, the task is determined
   * again.
   */
  async function finish(task: Task, masterKey: MasterKey) {
    try {
      await perform(task, masterKey)
    } catch (error) {
      if (error instanceof ActStoppedError) return setStep({ at: 'stopped', why: error.stop })
      setStep({ at: 'look' })
      throw error
    } finally {
      masterKey.forget()
    }
    leave()
  }

  return { step, look, openWithPasskey, finish }
}

async function readTask(query: KeyTaskQuery): Promise<Omit<Task, 'userId'> | undefined> {
  const given = keyMessage(query)
  const { organization } = await callBusiness('GET /api/organizations/:organizationId', given)
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', given)
  const task = keyTaskOf(query, organization, { keys, isPrepared: await hasEncryptionKey(query) })
  if (!task) return undefined
  const { name } = organization
  if (task.what === 'prepare') return { query, work: task, organization: name }
  if (task.what === 'make')
    return { query, work: { ...task, members: await listOtherMembers(query) }, organization: name }
  const missing = await Promise.all(task.keys.map((record) => loadMissingKeyWraps(query, record)))
  const shares = missing.filter(({ recipients, unprepared }) => recipients.length + unprepared.length > 0)
  return shares.length === 0 ? undefined : { query, work: { what: 'share', shares }, organization: name }
}

/**
 * Performs the task. Unlocking the member's keys creates an encryption key if there is none. Keys are shared with those
 * members alone whose names the page has shown: the service could name others in between.
 */
async function perform({ query, work }: Task, masterKey: MasterKey): Promise<void> {
  const memberKeys = await unlockMemberKeys(query, masterKey)
  if (work.what === 'prepare') return
  if (work.what === 'make') {
    const made = await makeKey(memberKeys, work.replaces)
    clearRenewRequest()
    const { recipients } = await loadMissingKeyWraps(query, made.record)
    return shareOrganizationKey(memberKeys, made, selectShown(recipients, work.members))
  }
  for (const { record, recipients } of work.shares)
    if (recipients.length > 0) await shareOrganizationKey(memberKeys, await openKey(memberKeys, record), recipients)
}

/** Removes `renew` from the URL: a member who returns here because sharing failed must not create another key. */
function clearRenewRequest(): void {
  const address = new URL(location.href)
  address.searchParams.delete('renew')
  history.replaceState(null, '', address)
}
