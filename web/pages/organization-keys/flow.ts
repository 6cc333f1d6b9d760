import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useState } from 'preact/hooks'
import { callBusiness } from '../../lib/business-call.ts'
import { call } from '../../lib/call.ts'
import { reauthenticate } from '../../lib/passkey.ts'
import { readOwnSession } from '../../lib/session.ts'
import { askedIn, errandOf, type Asked } from './task.ts'
import { aboutIt, isPrepared, openHands, makeKey, openKey, readLacking, shareKey, type Lacking } from './sharing.ts'

const loadVault = () => import('../../lib/vault.ts')

/** What there is to do, in which organization, and who does it. */
export type Task = {
  asked: Asked
  work: { what: 'make'; replaces: string | undefined } | { what: 'share'; shares: Lacking[] } | { what: 'prepare' }
  organization: string
  userId: string
}

/** How far a person is who looks after the keys of an organization. */
export type Step =
  | { at: 'look' }
  | { at: 'authenticate' }
  | { at: 'nothing to do' }
  | { at: 'confirm'; task: Task }
  | { at: 'enter code'; task: Task; keyWraps: KeyWrap[] }

/** The step where the person is, and all that can be done about it. */
export function useFlow(leave: () => void) {
  const [step, setStep] = useState<Step>({ at: 'look' })

  async function look() {
    const asked = askedIn(location.search)
    if (!asked) return setStep({ at: 'nothing to do' })
    const session = await readOwnSession()
    if (!session) return setStep({ at: 'authenticate' })
    const task = await readTask(asked)
    setStep(task ? { at: 'confirm', task: { ...task, userId: session.user.userId } } : { at: 'nothing to do' })
  }

  /** One touch both proves who asks, and opens the keys. */
  async function openWithPasskey(task: Task) {
    const vault = await loadVault()
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, task.userId)
    if (!masterKey) return setStep({ at: 'enter code', task, keyWraps })
    await finish(task, masterKey)
  }

  /** The keys are open for this alone, and forgotten also where the server says no: then it is looked at again. */
  async function finish(task: Task, masterKey: MasterKey) {
    try {
      await perform(task, masterKey)
    } catch (error) {
      setStep({ at: 'look' })
      throw error
    } finally {
      masterKey.forget()
    }
    leave()
  }

  return { step, look, openWithPasskey, finish }
}

async function readTask(asked: Asked): Promise<Omit<Task, 'userId'> | undefined> {
  const given = aboutIt(asked)
  const { organization } = await callBusiness('GET /api/organizations/:organizationId', given)
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', given)
  const errand = errandOf(asked, organization, { keys, isPrepared: await isPrepared(asked) })
  if (!errand) return undefined
  const { name } = organization
  if (errand.what !== 'share') return { asked, work: errand, organization: name }
  const lacking = await Promise.all(errand.keys.map((record) => readLacking(asked, record)))
  const shares = lacking.filter(({ recipients, unprepared }) => recipients.length + unprepared.length > 0)
  return shares.length === 0 ? undefined : { asked, work: { what: 'share', shares }, organization: name }
}

/**
 * To open one's hands makes an encryption key where there is none. A new key is shared with whoever can open it, others
 * with those whom the person has seen named.
 */
async function perform({ asked, work }: Task, masterKey: MasterKey): Promise<void> {
  const hands = await openHands(asked, masterKey)
  if (work.what === 'prepare') return
  if (work.what === 'make') {
    const made = await makeKey(hands, work.replaces)
    askForNoOther()
    const { recipients } = await readLacking(asked, made.record)
    return shareKey(hands, made, recipients)
  }
  for (const { record, recipients } of work.shares)
    if (recipients.length > 0) await shareKey(hands, await openKey(hands, record), recipients)
}

/** There is a new key: whoever looks here again, because sharing it failed, wants no further one. */
function askForNoOther(): void {
  const address = new URL(location.href)
  address.searchParams.delete('renew')
  history.replaceState(null, '', address)
}
