import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  flowOf,
  newClaims,
  openEnterprise,
  refusalIn,
  scimPatch,
  scimUser,
  type Enterprise,
} from '#testing/enterprise.ts'
import { membersOf } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Company = Awaited<ReturnType<typeof connected>>
type Directory = Awaited<ReturnType<Enterprise['provision']>>
type Provisioned = Company & { directory: Directory }

/** Creates an organization with a connection to its provider, for a verified domain. */
async function connected() {
  const organization = await enterprise.organization(await world.person())
  const domain = `${randomUUID()}.example`
  await enterprise.verifyDomain(organization, domain)
  const { connectionId } = await enterprise.connect(organization, { domains: [domain] })
  return { ...organization, connectionId, address: () => `${randomUUID()}@${domain}` }
}

/** Creates the same organization with a directory whose users are matched by address. */
async function provisioned(): Promise<Provisioned> {
  const company = await connected()
  return { ...company, directory: await enterprise.provision(company, company.connectionId, 'email') }
}

const withAddress = (email: string) => ({ emails: [{ value: email, type: 'work', primary: true }] })

const create = ({ ask }: Directory, user: Record<string, unknown>) =>
  ask('POST', '/Users', scimUser({ userName: randomUUID(), ...user }))
const change = ({ ask }: Directory, id: string, user: Record<string, unknown>) =>
  ask('PUT', `/Users/${id}`, scimUser({ userName: id, ...user }))

/** Provisions a user with an address; returns the SCIM id. */
async function add({ directory }: Provisioned, email: string): Promise<string> {
  const answer = await create(directory, withAddress(email))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

async function move({ directory }: Provisioned, id: string, email: string) {
  const answer = await change(directory, id, withAddress(email))
  assert.equal(answer.statusCode, 200, answer.body)
}

async function deactivate({ directory }: Provisioned, id: string) {
  const answer = await directory.ask(
    'PATCH',
    `/Users/${id}`,
    scimPatch({ op: 'replace', path: 'active', value: false }),
  )
  assert.equal(answer.statusCode, 200, answer.body)
}

/** Creates a user that the provider names by an address, who signs in and links the account. */
const firstSignIn = ({ connectionId }: Company, email: string) =>
  enterprise.colleague(connectionId, newClaims({ email }))

/** Signs a linked user in again, in a new browser, with the address that the provider now sends. */
const signInAgain = (
  { connectionId }: Company,
  { claims }: { claims: ReturnType<typeof newClaims> },
  email = claims.email ?? '',
) => enterprise.browser().signIn(connectionId, { ...claims, email })

async function members(company: Company): Promise<string[]> {
  const all = await membersOf(world, company.organizationId, company.owner)
  return all.map(({ identityId }) => identityId).filter((each) => each !== company.owner.identityId)
}

async function assertMembers(company: Company, expected: Person[], message = 'the members') {
  const ids = expected.map(({ identityId }): string => identityId)
  assert.deepEqual((await members(company)).toSorted(), ids.toSorted(), message)
}

test('SCM-20 a new or known user who gets the address of another member is not that member', async () => {
  for (const known of [true, false]) {
    const company = await provisioned()
    const [first, second] = [company.address(), company.address()]
    const annId = await add(company, first)
    const ann = await firstSignIn(company, first)
    const bobBefore = known ? await add(company, company.address()) : undefined
    await move(company, annId, second)
    const bobId = bobBefore ?? (await add(company, first))
    if (known) await move(company, bobId, first)

    await deactivate(company, bobId)
    await assertMembers(company, [ann.person], 'the user who has never signed in has no membership to end')
    assert.equal((await signInAgain(company, ann, second)).statusCode, 303)
    await deactivate(company, annId)
    await assertMembers(company, [])
  }
})

test('SCM-20 the user who got the address signs in with it, and only the deactivated member leaves', async () => {
  for (const leaves of ['ann', 'bob'] as const) {
    const company = await provisioned()
    const [first, second] = [company.address(), company.address()]
    const annId = await add(company, first)
    const ann = await firstSignIn(company, first)
    await move(company, annId, second)
    const bobId = await add(company, first)
    // The provider still sends the former address of Ann.
    assert.equal((await signInAgain(company, ann)).statusCode, 303)
    const bob = await firstSignIn(company, first)
    await assertMembers(company, [ann.person, bob.person])

    await deactivate(company, leaves === 'ann' ? annId : bobId)
    await assertMembers(company, leaves === 'ann' ? [bob.person] : [ann.person])
    const left = await signInAgain(company, leaves === 'ann' ? ann : bob)
    assert.deepEqual(refusalIn(left), [403, 'sso_user_deactivated'])
  }
})

test('SCM-20 a member who gets the address of another stays the user that they are', async () => {
  const company = await provisioned()
  const [first, second, third] = [company.address(), company.address(), company.address()]
  const annId = await add(company, first)
  const bobId = await add(company, second)
  const ann = await firstSignIn(company, first)
  const bob = await firstSignIn(company, second)
  // The provider moves the address before the directory does.
  assert.equal((await signInAgain(company, bob, first)).statusCode, 303)
  await move(company, annId, third)
  await move(company, bobId, first)
  assert.equal((await signInAgain(company, bob, first)).statusCode, 303)
  await deactivate(company, annId)
  await assertMembers(company, [bob.person])
  assert.deepEqual(refusalIn(await signInAgain(company, ann)), [403, 'sso_user_deactivated'])
})

test('SCM-20 an address that another user still has is rejected, and nothing changes', async () => {
  const company = await provisioned()
  const [first, second] = [company.address(), company.address()]
  const annId = await add(company, first)
  const ann = await firstSignIn(company, first)
  const bobId = await add(company, second)
  for (const answer of [
    await change(company.directory, bobId, withAddress(first)),
    await create(company.directory, withAddress(first)),
  ])
    assert.deepEqual([answer.statusCode, answer.json().scimType], [409, 'uniqueness'])
  // The provider already names Bob by the address that the directory still has for Ann.
  const early = enterprise.browser()
  early.bring(await world.person())
  const flowId = flowOf(await early.signIn(company.connectionId, newClaims({ email: first })))
  assert.equal((await early.page('GET', `/api/sso/arrivals/${flowId}`)).json().mayJoin, false)

  await deactivate(company, bobId)
  await assertMembers(company, [ann.person])
  await deactivate(company, annId)
  await assertMembers(company, [])
})

/** Creates a member from before the directory, whose former address the directory gives to another user. */
async function earlierMember() {
  const company = await connected()
  const [first, second] = [company.address(), company.address()]
  const ann = await firstSignIn(company, first)
  const directory = await enterprise.provision(company, company.connectionId, 'email')
  const all = { ...company, directory }
  const bobId = await add(all, first)
  const annId = await add(all, second)
  return { company: all, first, second, ann, annId, bobId }
}

test('SCM-20 a sign-in corrects which user of the directory an earlier member is', async () => {
  for (const signsInFirst of ['ann', 'bob'] as const) {
    const { company, first, second, ann, annId, bobId } = await earlierMember()
    const annSignsIn = () => signInAgain(company, ann, second)
    if (signsInFirst === 'ann') assert.equal((await annSignsIn()).statusCode, 303)
    const bob = await firstSignIn(company, first)
    if (signsInFirst === 'bob') assert.equal((await annSignsIn()).statusCode, 303)
    await assertMembers(company, [ann.person, bob.person])

    await deactivate(company, annId)
    await assertMembers(company, [bob.person], signsInFirst)
    assert.deepEqual(refusalIn(await annSignsIn()), [403, 'sso_user_deactivated'])
    await deactivate(company, bobId)
    await assertMembers(company, [])
  }
})

test('SCM-20 a member who has signed in leaves no user of the directory by another address', async () => {
  const company = await provisioned()
  const [first, second] = [company.address(), company.address()]
  const annId = await add(company, first)
  const ann = await firstSignIn(company, first)
  await add(company, second)
  assert.equal((await signInAgain(company, ann, second)).statusCode, 303)
  await deactivate(company, annId)
  await assertMembers(company, [])
  assert.deepEqual(refusalIn(await signInAgain(company, ann, second)), [403, 'sso_user_deactivated'])
})

test('SCM-20 a user cannot get the subject of another user by externalId', async () => {
  const company = await connected()
  const directory = await enterprise.provision(company, company.connectionId, 'externalId')
  const claims = newClaims({ email: company.address() })
  const made = await create(directory, { externalId: claims.sub })
  const { person } = await enterprise.colleague(company.connectionId, claims)
  const annId: string = made.json().id
  assert.equal((await change(directory, annId, { externalId: randomUUID() })).statusCode, 200)
  const bobId: string = (await create(directory, { externalId: randomUUID() })).json().id
  const refused = await change(directory, bobId, { externalId: claims.sub })
  assert.deepEqual([refused.statusCode, refused.json().scimType], [409, 'uniqueness'])
  await deactivate({ ...company, directory }, bobId)
  await assertMembers(company, [person])
})
