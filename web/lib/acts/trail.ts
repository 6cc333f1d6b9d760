import { isLinkedEntry, type LinkedEntry } from '@countersign/protocol/formats/acts/follow-trail'
import { callBusiness } from '../api/business-call.ts'
import { NetworkError } from '../api/call.ts'
import { requireKeyNotices } from '../keys/key-notices.ts'
import { keepEvidence } from '../keys/evidence-store.ts'
import type { ActPlace } from './act.ts'
import type { StatedByService } from './statement.ts'
import { checkTrail, type TrailAlarmCode, withOwnAct } from './trail-check.ts'
import { readTrailMemory, type RememberedTrail, writeTrailMemory } from './trail-memory.ts'

type Named = Pick<StatedByService, 'at' | 'trail' | 'previousAct'> & { role: 'sign' | 'approve'; statement: string }

/**
 * Follows the trail of an organization from the head that this device remembers to the one that a statement names, and
 * remembers that. Returns `outdated` if the act was started before the last one that this device knows. A contradiction
 * replaces the page by an alarm: the promise then never settles, so that nothing is signed.
 */
export async function followActTrail(place: ActPlace, named: Named): Promise<RememberedTrail | 'outdated'> {
  const { organizationId } = place
  const remembered = await readTrailMemory(organizationId)
  const entries = remembered ? await readEntries(place, { from: remembered.sequence, to: named.trail.sequence }) : []
  const checked = checkTrail(organizationId, remembered, named, entries)
  if (checked === 'outdated') return checked
  if ('alarm' in checked) return alarm(checked.alarm, { organizationId, remembered, named, entries })
  await advance(organizationId, checked.trail)
  return checked.trail
}

/** Notes an act that was done here: later trails must contain it. */
export async function noteOwnAct(
  organizationId: string,
  trail: RememberedTrail,
  act: { text: string; expiresAt: string },
): Promise<void> {
  await advance(organizationId, withOwnAct(trail, act))
}

/** Another tab may have followed the trail further meanwhile. */
async function advance(organizationId: string, trail: RememberedTrail): Promise<void> {
  const latest = await readTrailMemory(organizationId)
  if (latest && latest.sequence > trail.sequence) return
  await writeTrailMemory(organizationId, trail)
}

/** Reads the entries after one number, up to another; fewer if the service has no more. Throws `NetworkError`. */
async function readEntries(place: ActPlace, { from, to }: { from: number; to: number }): Promise<LinkedEntry[]> {
  const { organizationId, actId, identityId } = place
  const found: LinkedEntry[] = []
  while (from + found.length < to) {
    const { entries } = await callBusiness('GET /api/organizations/:organizationId/acts/:actId/trail', {
      params: { organizationId, actId },
      querystring: { identity_id: identityId, after: String(from + found.length) },
    })
    if (!Array.isArray(entries) || !entries.every(isLinkedEntry)) throw new NetworkError('The answer has another form')
    if (entries.length === 0) return found
    found.push(...entries)
  }
  return found
}

type Contradiction = {
  organizationId: string
  remembered: RememberedTrail | undefined
  named: Named
  entries: LinkedEntry[]
}

async function alarm(code: TrailAlarmCode, contradiction: Contradiction): Promise<never> {
  const { organizationId, remembered, named, entries } = contradiction
  const at = new Date().toISOString()
  const { statement } = named
  const content = { version: 1, kind: 'trail', code, at, organizationId, remembered, statement, entries }
  const evidence = `${JSON.stringify(content, null, 2)}\n`
  await keepEvidence(at, evidence)
  await requireKeyNotices().alarm({ code, evidence })
  return new Promise<never>(() => undefined)
}
