import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { recordAuditEvent } from '../../server/platform/audit/audit-log.ts'
import { businessRequest, createOrganization } from '../../server/testing/organization.ts'
import { createWorld } from '../../server/testing/world.ts'
import { inherited } from '../testing/environment.ts'

let folder: string
let organizationId: string
let lines: string[]
let unusual: string[]

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-trail-'))
  const world = await createWorld()
  const owner = await world.person()
  const { id } = await createOrganization(world, owner)
  organizationId = id
  for (const name of ['One', 'Two']) await businessRequest(world, owner, `PATCH /organizations/${id}`, { name })
  const { body } = await businessRequest(world, owner, `GET /organizations/${id}/trail`)
  lines = body.trimEnd().split('\n')
  const { id: other } = await createOrganization(world, owner, 'Other')
  const details = { reason: 'one\u2028two\u2029three\u0085' }
  const event = { action: 'organization.updated', actor: 'user', organizationId: other, details } as const
  await recordAuditEvent(world.db, event, world.now())
  unusual = (await businessRequest(world, owner, `GET /organizations/${other}/trail`)).body.trimEnd().split('\n')
  await world.close()
})
after(() => rm(folder, { recursive: true }))

/** Runs `countersign verify-trail` without a server, on a file with this text. */
async function verify(text: string, ...options: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  await writeFile(join(folder, 'trail.jsonl'), text)
  const program = join(import.meta.dirname, '../main.ts')
  const words = [program, 'verify-trail', 'trail.jsonl', ...options]
  const env = { ...inherited, BASE_URL: 'http://localhost:1' }
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

async function headOf(text: string): Promise<string> {
  return JSON.parse((await verify(text, '--json')).stdout).head
}

test('an exported trail is verified without a network, and its head is printed', async () => {
  const { code, stdout, stderr } = await verify(lines.join('\n'))
  assert.equal(code, 0, stderr)
  assert.ok(stdout.startsWith(`The 3 entries of the organization ${organizationId} are one unbroken trail.\n`), stdout)
  assert.match(stdout, /^ {2}head {2}3:[\w+/]{43}=\nKeep the head/m)
  const head = await headOf(lines.join('\n'))
  const again = await verify(lines.join('\n'), '--head', head)
  assert.deepEqual([again.code, again.stdout.includes('Keep the head')], [0, false])
})

test('ACT-40 a line separator in details ends no record, and no record means two things', async () => {
  const { code, stderr } = await verify(unusual.join('\r\n'))
  assert.equal(code, 0, stderr)
  const [one = '', ...others] = lines
  const doubled = one.replace('"details":{', '"details":{"entryId":"other"},"details":{')
  assert.notEqual(doubled, one)
  assert.match((await verify([doubled, ...others].join('\n'))).stderr, /line 1: it is not an entry/)
})

test('ACT-31 an event that was deleted is counted', async () => {
  const [one = '', ...others] = lines
  const { entry, acts } = JSON.parse(one)
  const { code, stdout } = await verify([JSON.stringify({ entry, acts }), ...others].join('\n'))
  assert.equal(code, 0)
  assert.match(stdout, /^ {2}1 of them have no details: their events were deleted$/m)
})

test('ACT-31 a trail that was altered, cut or rewritten since its head is not valid', async () => {
  const [one = '', two = '', three = ''] = lines
  const invalid = async (text: string, ...options: string[]) => {
    const { code, stdout, stderr } = await verify(text, ...options)
    assert.deepEqual([code, stdout], [1, ''])
    return stderr
  }
  assert.match(await invalid([one, three].join('\n')), /line 2: entries are missing before it/)
  assert.match(
    await invalid([one, two.replace('"details":{', '"details":{"added":1,'), three].join('\n')),
    /line 2: its details are not/,
  )
  assert.match(await invalid([one, 'not JSON'].join('\n')), /line 2: it is not an entry/)
  assert.match(await invalid(''), /has no entries/)
  const head = await headOf(lines.join('\n'))
  assert.match(await invalid([one, two].join('\n'), '--head', head), /ends before the head/)
  const earlier = `2:${head.split(':')[1]}`
  assert.match(await invalid(lines.join('\n'), '--head', earlier), /line 2: the trail was rewritten/)
  const { code, stderr } = await verify(one, '--head', 'nonsense')
  assert.deepEqual([code, stderr.includes('Pass it as it was printed')], [2, true])
})
