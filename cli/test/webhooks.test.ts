import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startService, type Service } from '../../server/testing/service.ts'
import { startWebhookReceiver } from '../../server/testing/webhook-receiver.ts'
import { runCommand } from '../testing/command.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const countersign = (...words: string[]) => runCommand(service, [...words])
const webhooks = (...words: string[]) => countersign('webhooks', ...words)

test('a webhook of the service is added, tested, changed and removed on the command line', async (t) => {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  assert.equal((await webhooks('list')).stdout, 'None yet.\n')
  const added = await webhooks('add', receiver.url, '--event', 'group.created', '--event', 'group.deleted')
  assert.match(added.stdout, /^Secret +whsec_\S+$/m, added.stderr)
  assert.match(added.stdout, /^Events +group.created, group.deleted$/m)
  const [, id = ''] = /^Webhook +(\S+)$/m.exec(added.stdout) ?? []

  assert.match((await webhooks('test', id)).stdout, new RegExp(`countersign webhooks deliveries ${id}$`, 'm'))
  await countersign('groups', 'create', 'engine')
  const received = await receiver.has(2)
  const types = received.map(({ body }) => JSON.parse(body).type)
  assert.deepEqual(types.toSorted(), ['group.created', 'service.test'])
  assert.match((await webhooks('deliveries', id)).stdout, /^\S{36} +service.test /m)

  assert.match((await webhooks('select', id, '--all')).stdout, /^Events +all$/m)
  assert.equal((await webhooks('select', id)).code, 2)
  assert.match((await webhooks('select', id, '--event', 'signing.signed')).stderr, /Types of events are identity/)
  assert.match((await webhooks('disable', id)).stdout, /^Status +disabled$/m)
  assert.match((await webhooks('test', id)).stderr, /^error: The webhook is disabled/)
  assert.match((await webhooks('enable', id)).stdout, /^Status +active$/m)
  assert.match((await webhooks('set', id, 'https://b.example/hook')).stdout, /^URL +https:\/\/b.example\/hook$/m)
  const rotated = await webhooks('rotate-secret', id, '--grace', '600')
  assert.match(rotated.stdout, /^Secret +whsec_\S+$/m, rotated.stderr)
  assert.match((await webhooks('show', id)).stdout, /^Last answer +204$/m)
  assert.match((await webhooks('list')).stdout, new RegExp(`^${id} +https://b.example/hook +all +active +204`, 'm'))
  assert.equal((await webhooks('remove', id)).code, 2)
  assert.equal((await webhooks('remove', id, '--yes')).stdout, `The webhook ${id} was removed.\n`)
  assert.match((await webhooks('show', id)).stderr, /^error: No webhook has this ID/)
})
