import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createRemotePerson } from '../../../server/testing/remote-signer.ts'
import { startService, type Service } from '../../../server/testing/service.ts'
import { fieldsOf, listOf, textOf } from '../../terminal.ts'
import { runCommand } from '../../testing/command.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const countersign = (...words: string[]) => runCommand(service, [...words])

async function json(...words: string[]) {
  const { code, stdout, stderr } = await countersign(...words, '--json')
  assert.equal(code, 0, stderr)
  return fieldsOf(JSON.parse(stdout))
}

test('an operator manages a group and its members by its key', async () => {
  const { identityId, handle } = await createRemotePerson(service, 'ada')
  assert.equal((await json('groups', 'create', 'eng', '--name', 'Engineering'))['displayName'], 'Engineering')
  assert.equal((await json('groups', 'change', 'eng', '--description', 'Builds'))['description'], 'Builds')
  assert.equal((await json('groups', 'add', 'eng', identityId, identityId))['added'], 1)
  const again = await countersign('groups', 'add', 'eng', `@${handle}`)
  assert.equal(again.stdout, 'Added 0 to eng, which has 1 member now.\n', again.stderr)
  const shown = await json('groups', 'show', 'eng', '--members')
  assert.deepEqual(
    listOf(shown['members']).map((member) => textOf(fieldsOf(member)['handle'])),
    [handle],
  )
  assert.match((await countersign('groups', 'list')).stdout, /eng +Engineering +1/)
  assert.match((await countersign('groups', 'show', 'eng', '--members')).stdout, /Members +1[\s\S]*^@ada/m)
  const stranger = await countersign('groups', 'add', 'eng', randomUUID())
  assert.equal(stranger.code, 1)
  assert.match(stranger.stderr, /does not exist/)
  assert.match((await countersign('groups', 'remove', 'eng', identityId)).stdout, /Removed 1 from eng, which has 0/)
  const unasked = await countersign('groups', 'delete', 'eng')
  assert.equal(unasked.code, 2)
  assert.match(unasked.stderr, /--yes/)
  assert.equal((await json('groups', 'delete', 'eng', '--yes'))['deleted'], true)
  assert.match((await countersign('groups', 'show', 'eng')).stderr, /no group has the key eng/)
})

test('an operator says who may use an app, and which groups it learns', async () => {
  await countersign('groups', 'create', 'ops')
  const made = await json('apps', 'create', '--name', 'Grafana', '--redirect-uri', 'https://grafana.example/callback')
  const clientId = textOf(made['clientId'])
  const access = ['--access', 'restricted', '--access-group', 'ops', '--access-contact', 'it@example.com']
  const changed = await json('apps', 'change', clientId, ...access, '--groups-claim', 'all')
  assert.deepEqual(changed['access'], {
    ...{ mode: 'restricted', groups: ['ops'], organizations: [], contact: 'it@example.com' },
  })
  assert.deepEqual(changed['groupsClaim'], { include: 'all' })
  assert.match((await countersign('apps', 'show', clientId)).stdout, /Access +restricted\n.*Groups +ops/)
  const opened = await json('apps', 'change', clientId, '--access', 'everyone', '--access-group', '')
  assert.deepEqual(opened['access'], {
    ...{ mode: 'everyone', groups: [], organizations: [], contact: 'it@example.com' },
  })
  const emptied = ['--access-group', '', '--access-organization', '', '--access-contact', '']
  const closed = await json('apps', 'change', clientId, '--access', 'none', ...emptied)
  assert.deepEqual(closed['access'], { mode: 'none', groups: [], organizations: [], contact: null })
})
