import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type {
  ConfigurationChange,
  ConfigurationDocument,
  DeclaredOrganization,
} from '@countersign/protocol/operations/configuration'
import { type Enterprise, openEnterprise } from '#testing/enterprise.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createToken } from '#testing/operators.ts'

let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise()
})
after(() => enterprise.close())

type Options = { source?: string; headers?: Record<string, string>; adopt?: true; prune?: true; dryRun?: boolean }

function send(organizations: DeclaredOrganization[], options: Options = {}) {
  const { world } = enterprise
  const { source = 'platform', headers = world.admin, dryRun = false, ...more } = options
  const payload = { document: { apiVersion: 'countersign/v1', source, organizations }, dryRun, ...more }
  return world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
}

async function apply(organizations: DeclaredOrganization[], options?: Options): Promise<ConfigurationChange[]> {
  const answer = await send(organizations, options)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ changes: ConfigurationChange[] }>().changes
}

const actionsOf = (changes: ConfigurationChange[]) => changes.map(({ object, action }) => `${action} ${object}`)

async function refusalOf(organizations: DeclaredOrganization[], options?: Options): Promise<string> {
  const answer = await send(organizations, options)
  return `${answer.statusCode} ${answer.json().error}`
}

async function exported(source?: string): Promise<ConfigurationDocument> {
  const url = `/api/admin/export${source === undefined ? '' : `?source=${source}`}`
  return (await enterprise.world.api.inject({ url, headers: enterprise.world.admin })).json()
}

async function statusOf(organizationId: string): Promise<string> {
  const url = `/api/admin/organizations/${organizationId}`
  return (await enterprise.world.api.inject({ url, headers: enterprise.world.admin })).json().organization.status
}

/** Creates an organization that has verified a domain. */
async function acmeWith(domain: string) {
  const { world } = enterprise
  const owner = await world.person()
  const { id, slug } = await createOrganization(world, owner)
  await enterprise.verifyDomain({ owner, organizationId: id }, domain)
  return { owner, id, slug }
}

test('CNF-02 an organization is suspended, exported, and not changed again', async () => {
  const { id, slug } = await acmeWith('suspended.example')
  const declared: DeclaredOrganization = { slug, name: 'Acme', domains: ['suspended.example'] }
  assert.deepEqual(actionsOf(await apply([declared])), [`none organizations/${slug}`])
  assert.equal((await exported()).organizations, undefined)

  const suspended: DeclaredOrganization = { ...declared, status: 'suspended' }
  assert.equal(await refusalOf([suspended]), '409 managed_elsewhere')
  const adopted = await apply([suspended], { adopt: true, dryRun: true })
  assert.deepEqual(adopted[0]?.fields, [{ path: 'status', from: 'active', to: 'suspended' }])
  assert.equal(await statusOf(id), 'active')
  assert.deepEqual(actionsOf(await apply([suspended], { adopt: true })), [`adopt organizations/${slug}`])
  assert.equal(await statusOf(id), 'suspended')
  for (const source of [undefined, 'platform']) {
    const { organizations = [] } = await exported(source)
    assert.deepEqual(organizations, [{ slug, status: 'suspended' }])
    assert.deepEqual(actionsOf(await apply(organizations)), [`none organizations/${slug}`])
  }
  assert.equal((await exported('another')).organizations, undefined)
  assert.deepEqual(actionsOf(await apply([{ slug, status: 'active' }])), [`update organizations/${slug}`])
  assert.equal(await statusOf(id), 'active')

  assert.deepEqual(actionsOf(await apply([], { prune: true })), [])
  assert.equal(await statusOf(id), 'active')
})

test('CNF-12 a document creates no organization, names none, and gives none a domain', async () => {
  const { slug } = await acmeWith('acme.example')
  assert.equal(await refusalOf([{ slug: 'not-yet', name: 'Not yet' }]), '404 organization_not_found')
  for (const wrong of [
    { slug, name: 'Acme Ltd' },
    { slug, domains: ['acme.example', 'other.example'] },
    { slug, domains: ['not a domain'] },
  ])
    assert.equal(await refusalOf([wrong], { adopt: true }), '409 organization_differs', JSON.stringify(wrong))
  const owner = await enterprise.world.person()
  const claiming = await createOrganization(enterprise.world, owner, 'Claiming')
  const claim = { domain: 'claimed.example' }
  const path = `POST /organizations/${claiming.id}/domains` as const
  assert.equal((await businessRequest(enterprise.world, owner, path, claim)).statusCode, 201)
  assert.equal(await refusalOf([{ slug: claiming.slug, domains: ['claimed.example'] }]), '409 organization_differs')
  assert.deepEqual(actionsOf(await apply([{ slug, domains: ['ACME.example'] }])), [`none organizations/${slug}`])
})

test('CNF-12 a document does not touch another organization that has the slug now', async () => {
  const { world } = enterprise
  const { owner, id, slug } = await acmeWith('moved.example')
  await apply([{ slug, status: 'active' }], { adopt: true })
  const fresh = { headers: await owner.signIn() }
  const moved = await businessRequest(world, fresh, `PATCH /organizations/${id}`, { slug: 'moved-elsewhere' })
  assert.equal(moved.statusCode, 200, moved.body)
  assert.equal(await refusalOf([{ slug, status: 'suspended' }]), '404 organization_not_found')
  world.pass(91 * 24 * 3600)
  const stranger = await world.person()
  const other = await createOrganization(world, stranger, 'Other')
  const taken = await businessRequest(world, { headers: await stranger.signIn() }, `PATCH /organizations/${other.id}`, {
    slug,
  })
  assert.equal(taken.statusCode, 200, taken.body)
  assert.equal(await refusalOf([{ slug, status: 'suspended' }]), '409 managed_elsewhere')
  assert.equal(await refusalOf([{ slug, domains: ['moved.example'] }], { adopt: true }), '409 organization_differs')
  assert.equal(await statusOf(other.id), 'active')
  const { organizations } = await exported('platform')
  assert.ok(organizations?.some((each) => each.slug === 'moved-elsewhere'))
})

test('CNF-06 a document of organizations needs the permission to manage them', async () => {
  const { headers } = await createToken(enterprise.world, ['configuration.apply', 'apps.manage'])
  const denied = await send([{ slug: 'acme' }], { headers })
  assert.deepEqual([denied.statusCode, denied.json().permission], [403, 'organizations.manage'])
})
