import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { ask, createRemotePerson } from '../../../server/testing/remote-signer.ts'
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

async function newApp(): Promise<string> {
  const made = await json('apps', 'create', '--name', 'Grafana', '--redirect-uri', 'https://grafana.example/callback')
  return textOf(made['clientId'])
}

test('an operator defines roles of an app, assigns them, and takes them away', async () => {
  const { identityId, handle } = await createRemotePerson(service, 'ada')
  for (const key of ['eng', 'ops']) await countersign('groups', 'create', key)
  const clientId = await newApp()
  assert.match((await countersign('apps', 'roles', 'show', clientId)).stdout, /No roles yet/)
  await json('apps', 'roles', 'set', clientId, 'viewer', '--name', 'Viewer', '--group', 'eng')
  const set = await json('apps', 'roles', 'set', clientId, 'admin', '--identity', `@${handle}`)
  assert.deepEqual(set['roleAssignments'], [
    { role: 'viewer', groups: ['eng'], identities: [] },
    { role: 'admin', groups: [], identities: [identityId] },
  ])
  await json('apps', 'roles', 'assign', clientId, 'viewer', '--group', 'ops', '--identity', identityId)
  const renamed = await json('apps', 'roles', 'set', clientId, 'viewer', '--name', 'Reader')
  assert.deepEqual(listOf(renamed['roleAssignments'])[0], {
    ...{ role: 'viewer', groups: ['eng', 'ops'], identities: [identityId] },
  })
  const shown = await countersign('apps', 'roles', 'show', clientId)
  assert.match(shown.stdout, /viewer +Reader +eng ops +@ada\S*\n *admin +admin +@ada/)

  const taken = ['apps', 'roles', 'unassign', clientId, 'viewer', '--group', 'eng', '--identity', handle]
  assert.deepEqual(listOf((await json(...taken))['roleAssignments'])[0], {
    ...{ role: 'viewer', groups: ['ops'], identities: [] },
  })
  const removed = await json('apps', 'roles', 'remove', clientId, 'admin')
  assert.deepEqual(removed['roles'], [{ key: 'viewer', displayName: 'Reader' }])
  const emptied = await json('apps', 'roles', 'set', clientId, 'viewer', '--group', '')
  assert.deepEqual(emptied['roleAssignments'], [])
  const unknown = await countersign('apps', 'roles', 'assign', clientId, 'owner', '--group', 'eng')
  assert.deepEqual([unknown.code, /the app has no role owner/.test(unknown.stderr)], [1, true])
})

test('ROL-05 a command overwrites nothing that another operator changes while it runs', async (t) => {
  const clientId = await newApp()
  await json('apps', 'roles', 'set', clientId, 'viewer')
  // The other operator is done just before the change of this one arrives.
  const forward = async ({ method = '', url = '', headers }: IncomingMessage) => {
    if (method === 'PUT') await json('apps', 'roles', 'set', clientId, 'viewer', '--name', 'Reader')
    const body = method === 'PUT' ? JSON.stringify({ roles: [], roleAssignments: [] }) : undefined
    const { authorization = '', 'if-match': replaced } = headers
    const sent = { authorization, 'content-type': 'application/json', ...(replaced && { 'if-match': replaced }) }
    return fetch(service.baseUrl + url, { method, headers: sent, ...(body && { body }) })
  }
  const between = createServer((request, response) => {
    void forward(request).then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
  }).listen(0)
  await once(between, 'listening')
  t.after(() => between.close().closeAllConnections())
  const address = between.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const baseUrl = `http://localhost:${address.port}`
  const refused = await runCommand({ baseUrl }, ['apps', 'roles', 'remove', clientId, 'viewer'])
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /were changed meanwhile/)
  assert.deepEqual((await json('apps', 'roles', 'show', clientId))['roles'], [{ key: 'viewer', displayName: 'Reader' }])
})

test('an operator gives the members of an organization access to an app', async () => {
  const { headers, identityId } = await createRemotePerson(service, 'hedy')
  const business = { baseUrl: service.businessUrl }
  const given = { headers, json: { name: 'Acme', identityId } }
  const made = await ask<{ organization: { slug: string } }>(business, '/api/organizations', given)
  const { slug } = made.organization
  const clientId = await newApp()
  const restricted = ['apps', 'change', clientId, '--access', 'restricted', '--access-organization']
  const { access } = await json(...restricted, slug)
  assert.deepEqual(access, { mode: 'restricted', groups: [], organizations: [slug], contact: null })
  assert.match((await countersign('apps', 'show', clientId)).stdout, new RegExp(`Of organizations +${slug}`))
  assert.match((await countersign(...restricted, 'no-such-one')).stderr, /No organization has the slug no-such-one/)
  assert.deepEqual((await json(...restricted, '')).access, { ...access, organizations: [] })
})

test('an operator defines a claim of an app and previews it for an identity', async () => {
  const { identityId, handle } = await createRemotePerson(service, 'grace')
  const clientId = await newApp()
  await json('apps', 'change', clientId, '--scope', 'openid profile roles')
  await json('apps', 'roles', 'set', clientId, 'admin', '--identity', identityId)
  const set = ['apps', 'claims', 'set', clientId, 'grafana_role', '--source', 'roles', '--as', 'string']
  const mapped = await json(...set, '--map', 'admin=Admin', '--map', 'editor=Editor', '--default', 'Viewer')
  const map = { admin: 'Admin', editor: 'Editor' }
  const expected = { claim: 'grafana_role', source: 'roles', scope: 'roles', in: ['id_token', 'userinfo'] }
  assert.deepEqual(mapped['claims'], [{ ...expected, as: 'string', map, default: 'Viewer' }])
  await json('apps', 'claims', 'set', clientId, 'zone', '--source', 'literal:eu', '--in', 'access_token')
  assert.match((await countersign('apps', 'claims', 'show', clientId)).stdout, /grafana_role +roles.*Viewer\nzone/)
  const shown = await json('apps', 'claims', 'preview', clientId, handle, '--scope', 'openid roles')
  assert.deepEqual(shown['idToken'], { sub: identityId, grafana_role: 'Admin', roles: ['admin'] })
  const printed = await countersign('apps', 'claims', 'preview', clientId, identityId)
  assert.match(printed.stdout, /Access to the app +yes[\s\S]*"grafana_role": "Admin"/)
  const reserved = await countersign('apps', 'claims', 'set', clientId, 'Email', '--source', 'literal:x')
  assert.match(reserved.stderr, /Email is reserved/)
  assert.equal(listOf((await json('apps', 'claims', 'remove', clientId, 'zone'))['claims']).length, 1)
})
