import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import { type Service, startService, testAdminToken } from '../../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

type Run = { code: number; stdout: string; stderr: string }

function people(...words: string[]): Promise<Run> {
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN: testAdminToken }
  const main = join(import.meta.dirname, '../main.ts')
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'people', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

/** Registers a user at the service as a browser does. */
async function register(handle: string) {
  const post = async (path: string, body: object) => {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${service.baseUrl}/api/auth/register/${path}`, sent)
    assert.equal(answer.ok, true, `${path}: ${answer.status}`)
    return fieldsOf(await answer.json())
  }
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const { flowId, options } = await post('start', { handle, displayName: handle })
  const { challenge, user } = fieldsOf(options)
  const registering = { id: textOf(fieldsOf(user).id), name: handle, displayName: handle }
  const credential = authenticator.register({ challenge: textOf(challenge), user: registering })
  const registered = await post('finish', { flowId, credential })
  const headers = { authorization: `Bearer ${textOf(registered.sessionToken)}` }
  const [identity] = listOf(registered.identities)
  return {
    identityId: textOf(fieldsOf(identity).identityId),
    isSignedIn: async () => (await fetch(`${service.baseUrl}/api/auth/session`, { headers })).ok,
  }
}

test('a person is suspended with a reason, activated, and signed out', async () => {
  const { identityId, isSignedIn } = await register('left-the-company')
  const because = ['--reason', 'Left the company']
  assert.equal((await people('suspend', identityId)).code, 2, 'without a reason')
  const until = '2126-01-01T00:00:00Z'
  const suspended = await people('suspend', identityId, ...because, '--scope', 'identity', '--until', until)
  assert.match(suspended.stdout, /^Scope +identity$[^]*^Reason +Left the company$[^]*^Until +2126-01-01/m)
  assert.equal(await isSignedIn(), false)
  const json = await people('suspend', identityId, ...because, '--json')
  assert.equal(fieldsOf(fieldsOf(JSON.parse(json.stdout)).suspension).until, null)
  const activated = await people('activate', 'left-the-company')
  assert.equal(activated.stdout, 'The suspension through left-the-company has ended.\n')
  assert.deepEqual(JSON.parse((await people('activate', identityId, '--json')).stdout), { identityId, activated: true })

  const other = await register('signed-out-person')
  assert.equal(await other.isSignedIn(), true)
  assert.equal((await people('sign-out', '@signed-out-person')).stdout, '@signed-out-person is signed out.\n')
  assert.equal(await other.isSignedIn(), false)
  const unknown = await people('sign-out', '0198c0de-0000-7000-8000-000000000000')
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'error: No identity has this ID.\n'])
})

test('an identity is deleted later if its username confirms it, and restored', async () => {
  const { identityId, isSignedIn } = await register('deleted-later')
  const because = ['--reason', 'Left the company']
  assert.equal((await people('delete', identityId, ...because)).code, 2, 'without its username')
  const wrong = await people('delete', identityId, ...because, '--confirm', 'another')
  assert.deepEqual([wrong.code, wrong.stderr], [1, 'error: confirm must be the username of this identity.\n'])
  assert.equal((await people('delete', identityId, ...because, '--retain-days', '31')).code, 2)
  assert.equal(await isSignedIn(), true)
  const deleted = await people('delete', 'deleted-later', ...because, '--confirm', '@deleted-later', '--json')
  const { scheduledAt, dueAt } = fieldsOf(fieldsOf(JSON.parse(deleted.stdout)).deletion)
  assert.equal(Date.parse(textOf(dueAt)) - Date.parse(textOf(scheduledAt)), 7 * 86_400_000)
  assert.equal(await isSignedIn(), false)
  assert.match((await people('show', identityId)).stdout, /^Status +deletion_scheduled$[^]*^Deletion +20/m)
  assert.match((await people('list', '--status', 'deletion_scheduled')).stdout, /@deleted-later/)
  assert.equal((await people('restore', 'deleted-later')).stdout, 'deleted-later is not deleted.\n')
  assert.match((await people('show', identityId)).stdout, /^Status +active$/m)
  const erased = await people(
    'delete',
    identityId,
    ...because,
    '--confirm',
    'deleted-later',
    '--retain-days',
    '0',
    '--legal-erasure',
  )
  assert.match(erased.stdout, /^Reason +Left the company$/m)
  assert.equal((await people('show', identityId)).code, 1)
})
