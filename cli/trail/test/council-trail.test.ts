import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { actsDigest, trailHead } from '@countersign/protocol/formats/acts/act'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { businessRequest } from '../../../server/testing/organization.ts'
import { createSignatories } from '../../../server/testing/signatories.ts'
import { createSigner } from '../../../server/testing/signer.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { inherited } from '../../testing/environment.ts'

const { sha256 } = nodeSuite
let folder: string
let world: TestWorld
let baseUrl: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-council-trail-'))
  world = await createWorld()
  baseUrl = (await world.api.listen({ host: 'localhost', port: 0 })).replace('127.0.0.1', 'localhost')
  await createSigner(world)
  const { code, stderr } = await run('trust', 'init')
  assert.equal(code, 0, stderr)
})
after(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

type Run = { code: number; stdout: string; stderr: string }

function run(...words: string[]): Promise<Run> {
  const program = join(import.meta.dirname, '../../main.ts')
  const env = { ...inherited, BASE_URL: baseUrl }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

async function verify(lines: string[], ...options: string[]) {
  await writeFile(join(folder, 'trail.jsonl'), lines.join('\n'))
  const known = ['--trust', 'trust.json', '--issuer', world.config.authUrl.origin]
  return run('verify-trail', 'trail.jsonl', ...known, ...options)
}

/** Continues a trail after one of its records with others, as a service could that has all rows. */
function rebuild(lines: string[], records: object[]): string[] {
  const rebuilt = lines.map((line) => JSON.parse(line))
  for (const record of records) {
    const last = JSON.parse(rebuilt.at(-1).entry)
    const { acts = [], ...given } = record as { acts?: []; entry: object }
    const place = { sequence: last.sequence + 1, previous: trailHead(sha256, last), acts: actsDigest(sha256, acts) }
    rebuilt.push({ ...given, entry: writeCanonicalJson({ ...last, ...given.entry, ...place }), acts })
  }
  return rebuilt.map((record) => JSON.stringify(record))
}

test('CNC-31 the decisions of a council are replayed from the trail, with who is in it', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one, two, three] = members
  await council.decide({ by: owner, others: [one] }, 'PATCH', { approvalsNeeded: 2 })
  await businessRequest(world, owner, `DELETE /organizations/${id}/members/${three.memberId}`)
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  const restoring = ['POST /council/signatories', { identityId: one.identityId }] as const
  await assert.rejects(council.decide({ by: owner, others: [two] }, ...restoring), /approvals_missing/)
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  await businessRequest(world, three, `DELETE /organizations/${id}/council/reset`)

  const lines = (await businessRequest(world, owner, `GET /organizations/${id}/trail`)).body.trimEnd().split('\n')
  const { code, stdout, stderr } = await verify(lines, '--json')
  assert.equal(code, 0, stderr)
  const replayed = JSON.parse(stdout).council
  assert.equal(replayed.approvalsNeeded, 2)
  const inForce = replayed.signatories.filter((each: { isSuspended: boolean }) => !each.isSuspended)
  assert.deepEqual(
    inForce.map((each: { signatoryId: string }) => each.signatoryId).toSorted(),
    [owner.identityId, two.identityId].toSorted(),
  )
  assert.match((await verify(lines)).stdout, /its council of 2 needs 2 approvals, and all its decisions had theirs/)

  // A service with all rows: an admission without any signature.
  const last = JSON.parse(JSON.parse(lines.at(-1) ?? '').entry)
  const puppet = { ...last, action: 'organization.signatory.admitted', details: last.details }
  const invented = await verify(rebuild(lines, [{ entry: puppet }]))
  assert.deepEqual([invented.code, /nobody has signed it/.test(invented.stderr)], [1, true], invented.stderr)
})

test('CNC-32 a decision without the approvals of the council is refused, however the service records it', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  await council.decide({ by: owner, others: [members[0]] }, 'PATCH', { approvalsNeeded: 2 })
  const lines = (await businessRequest(world, owner, `GET /organizations/${id}/trail`)).body.trimEnd().split('\n')
  const record = JSON.parse(lines.at(-1) ?? '')
  const before = lines.slice(0, -1)
  const alone = rebuild(before, [{ ...record, entry: JSON.parse(record.entry), acts: record.acts.slice(0, 1) }])
  const { code, stderr } = await verify(alone)
  assert.deepEqual([code, /the council had not approved it/.test(stderr)], [1, true], stderr)
  assert.equal((await verify(lines)).code, 0)
})
