import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Mailbox, openMailbox } from '../../server/testing/mailbox.ts'
import * as recovery from '../../server/testing/recovery.ts'
import { createWorld, type TestWorld } from '../../server/testing/world.ts'
import { fieldsOf, listOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

let world: TestWorld
let mailbox: Mailbox
let baseUrl: string
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  baseUrl = await world.api.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Run = { code: number; stdout: string; stderr: string }

function people(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: baseUrl, ADMIN_TOKEN: world.kernel.adminToken.reveal() }
  const main = join(import.meta.dirname, '../main.ts')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'people', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('a recovery link is mailed to an identity, listed, and cancelled once', async () => {
  const person = await world.person()
  const because = ['--reason', 'Lost the phone']
  assert.equal((await people('recovery-link', person.handle)).code, 2, 'without a reason')
  const refused = await people('recovery-link', person.handle, ...because)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /no address that its user chose/)
  assert.match((await people('recovery-links', person.handle)).stdout, /^None yet\.$/m)
  await recovery.verifiedAWeekAgo(world, mailbox, { person })
  const issued = await people('recovery-link', person.handle, ...because)
  assert.match(issued.stdout, /^ID +[\da-f-]{36}$[^]*^Mailed +2030-[^]*^Valid until +2030-/m, issued.stderr)
  const { token } = recovery.secretsIn(await mailbox.take())
  assert.ok(token !== '' && !issued.stdout.includes(token))
  const listed = await people('recovery-links', person.identityId, '--json')
  const [link] = listOf(fieldsOf(JSON.parse(listed.stdout)).recoveryLinks)
  assert.equal(fieldsOf(link).state, 'issued')
  assert.match((await people('cancel-recovery', person.handle)).stdout, /is cancelled\.$/m)
  assert.match((await people('cancel-recovery', person.handle)).stdout, /^No recovery of .* is in progress\.$/m)
  assert.match((await people('recovery-links', person.handle)).stdout, /cancelled/)
})

test('an operator reads that a completed recovery is cancelled no longer', async () => {
  const person = await world.person()
  await recovery.recover(world, mailbox, person)
  const cancelled = await people('cancel-recovery', person.handle)
  assert.match(cancelled.stdout, /is completed\. Until 20[\d-]+T\S+, only its user can undo it\.$/m, cancelled.stderr)
  const another = await people('recovery-link', person.handle, '--reason', 'Lost the phone again')
  assert.match(another.stderr, /in progress or can be undone/)
})
