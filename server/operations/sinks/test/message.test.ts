import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { writeHttpBatch } from '../message.ts'

const now = new Date('2030-01-01T00:00:00Z')
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const sinkId = randomUUID()

function eventAt(sequence: number): AuditEvent {
  const about = {
    result: 'success',
    actor: { kind: 'system', id: null, name: null },
    object: null,
    details: {},
  } as const
  const ids = { identityId: null, clientId: null, organizationId: null, requestId: null, personRef: null }
  const event = { entryId: randomUUID(), sequence, at: now.toISOString(), action: 'app.updated', address: null }
  return { ...event, ...about, ...ids }
}

const idOf = (first: AuditEvent, ...others: AuditEvent[]) =>
  writeHttpBatch([first, ...others], { sinkId, secrets: [secret], now }).headers['webhook-id']

test('AUD-02 the same events have the same webhook-id, and others at the same places have another', () => {
  const [one, two, three] = [eventAt(7), eventAt(8), eventAt(9)]
  assert.equal(idOf(one, two, three), idOf(one, two, three))
  // After a restore, later events get the places of those that were recorded after the backup.
  assert.notEqual(idOf(one, two, three), idOf(eventAt(7), eventAt(8), eventAt(9)))
  assert.notEqual(idOf(one, two, three), idOf(one, three))
})
