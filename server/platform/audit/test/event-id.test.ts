import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEventId } from '#platform/audit/event-id.ts'

test('IDs of events ascend within a millisecond, and name the time', () => {
  const start = Date.now()
  const ids = Array.from({ length: 20_000 }, createEventId)
  assert.deepEqual(ids.toSorted(), ids)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    assert.ok(time >= start && time <= Date.now() + 20, id)
  }
})
