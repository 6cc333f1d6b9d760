import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { actMessage, actsDigest, statementDigest, trailHead } from '@countersign/protocol/formats/acts/act'
import { toTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { type JsonObject, writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { actorOf } from '../../../server/testing/actor.ts'
import { newKeyPair } from '../../../server/testing/lying-log.ts'
import { businessRequest, createOrganization, reauthenticate } from '../../../server/testing/organization.ts'
import { createSigner, newSigningPair, rotationOf, type SigningPair } from '../../../server/testing/signer.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { inherited } from '../../testing/environment.ts'

const { sha256 } = nodeSuite
let folder: string
let world: TestWorld
let baseUrl: string
let ada: Awaited<ReturnType<typeof createSigner>>
let lines: string[]
const newPair = newSigningPair()

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-signed-trail-'))
  world = await createWorld()
  baseUrl = (await world.api.listen({ host: 'localhost', port: 0 })).replace('127.0.0.1', 'localhost')
  ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const rename = `PATCH /organizations/${id}` as const
  await actorOf(world, ada).act(rename, { name: 'One' })
  world.pass(60)
  await reauthenticate(world, ada)
  const rotated = await ada.rotate(rotationOf(ada.identityId, ada.pair, newPair))
  assert.equal(rotated.statusCode, 200, rotated.body)
  world.pass(3600)
  await actorOf(world, { ...ada, pair: newPair }).act(rename, { name: 'Two' })
  const { body } = await businessRequest(world, ada, `GET /organizations/${id}/trail`)
  lines = body.trimEnd().split('\n')
  const trusted = await run('trust', 'init')
  assert.equal(trusted.code, 0, trusted.stderr)
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

async function verify(records: string[], { trust = 'trust.json', issuer = world.config.authUrl.origin } = {}) {
  await writeFile(join(folder, 'trail.jsonl'), records.join('\n'))
  return run('verify-trail', 'trail.jsonl', '--trust', trust, '--issuer', issuer, '--json')
}

/** Signs the last act again, with changes, and builds its record again, as a service could with its own key. */
function forge(pair: SigningPair, changes: JsonObject): string[] {
  const record = JSON.parse(lines.at(-1) ?? '')
  const statement: JsonObject = { ...JSON.parse(record.acts[0].statement), ...changes }
  const presence = record.acts[0].presence
  const signature = pair.signBytes(actMessage(statement, Buffer.from(presence, 'base64')))
  const acts = [{ statement: writeCanonicalJson(statement), presence, signature }]
  const entry = { ...JSON.parse(record.entry), acts: actsDigest(sha256, acts) }
  return [...lines.slice(0, -1), JSON.stringify({ ...record, entry: writeCanonicalJson(entry), acts })]
}

test('ACT-65 the signatures of a trail are verified with the keys that the log has for their time', async () => {
  const { code, stdout, stderr } = await verify(lines)
  assert.equal(code, 0, stderr)
  const { signed, signedBy, areSignaturesVerified, unproved, entries, head } = JSON.parse(stdout)
  assert.deepEqual([entries, signed, signedBy, areSignaturesVerified], [3, 2, [ada.identityId], true])
  const lacking = { identityId: ada.identityId, missing: ['no_possession'] }
  assert.deepEqual(unproved, [
    { ...lacking, keyVersion: 1 },
    { ...lacking, keyVersion: 2, missing: ['unlinked_key', 'no_possession'] },
  ])
  assert.equal(head, `3:${trailHead(sha256, JSON.parse(JSON.parse(lines.at(-1) ?? '').entry))}`)
  const shown = await run('verify-trail', 'trail.jsonl', '--trust', 'trust.json', '--issuer', 'http://localhost:4401')
  assert.match(shown.stdout, /^ {2}2 of them are signed, by 1 identities: all signatures are valid$/m)
  assert.match(shown.stdout, /^ {2}1 of them are the word of the service alone$/m)
})

test('ACT-65 an act by a key that the log lacks or had replaced, or of another service, is refused', async () => {
  const refused = async (records: string[], options = {}) => {
    const { code, stdout, stderr } = await verify(records, options)
    assert.equal(code, 1)
    return `${stdout}${stderr}`
  }
  assert.match(await refused(forge(newSigningPair(), {})), /invalid signature/)
  assert.match(await refused(forge(ada.pair, {})), /invalid signature/)
  assert.match(await refused(forge(ada.pair, { keyVersion: 1 })), /unknown key/)
  assert.match(await refused(forge(newPair, { keyVersion: 3 })), /unknown key/)
  const stranger = (await world.person()).identityId
  assert.match(await refused(forge(newPair, { identityId: stranger })), /proves no key/)
  assert.match(await refused(lines, { issuer: 'https://id.example' }), /another service/)

  const other = toTrustedLog(sha256, { name: 'localhost:4400/transparency', publicKey: newKeyPair().raw })
  await writeFile(join(folder, 'other.json'), JSON.stringify(other))
  assert.match(await refused(lines, { trust: 'other.json' }), /not signed by the key in the trust file/)
  await writeFile(join(folder, 'none.json'), '{}')
  assert.match(await refused(lines, { trust: 'none.json' }), /is not a file of/)
})

test('ACT-65 without a trust file, signatures are counted and named as not verified', async () => {
  await writeFile(join(folder, 'trail.jsonl'), lines.join('\n'))
  const { code, stdout, stderr } = await run('verify-trail', 'trail.jsonl')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^ {2}2 of them are signed, by 1 identities\. Their signatures were NOT verified: pass --trust/m)
  const alone = await run('verify-trail', 'trail.jsonl', '--trust', 'trust.json')
  assert.match(alone.stderr, /pass --trust and --issuer together/)
  // The order of acts is verified without their keys.
  const [, two = '', three = ''] = lines
  const last = JSON.parse(three)
  assert.equal(
    JSON.parse(last.acts[0].statement).previousAct,
    statementDigest(sha256, JSON.parse(two).acts[0].statement),
  )
  await writeFile(join(folder, 'trail.jsonl'), forge(newPair, { previousAct: null }).join('\n'))
  assert.match((await run('verify-trail', 'trail.jsonl')).stderr, /does not follow the act before/)
})
