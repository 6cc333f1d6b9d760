import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recheckDomains } from '#organizations/domains/domain-check.ts'
import { errorOf, flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'

const day = 24 * 3600
let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise()
})
after(() => enterprise.close())

test('DOM-06 seven days after its DNS record disappeared, a domain admits no new members', async () => {
  const { world, dns } = enterprise
  const acme = await enterprise.organization(await world.person())
  const { challenge } = await enterprise.verifyDomain(acme, 'acme.example')
  const { connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] })
  /** Signs in a new user by the provider, and links their passkey account. */
  async function join() {
    const person = await world.person()
    const browser = enterprise.browser()
    browser.bring(person)
    const arrived = await browser.signIn(connectionId, newClaims())
    return linkAs(browser, flowOf(arrived), person.identityId)
  }
  const passAndCheck = async (seconds: number) => {
    world.pass(seconds)
    await recheckDomains(world.kernel, world.now())
  }

  dns.setTexts(challenge.name)
  await passAndCheck(day)
  assert.equal((await join()).statusCode, 200, 'it can be a mistake')
  await passAndCheck(7 * day - 1)
  assert.equal((await join()).statusCode, 200)
  await passAndCheck(1)
  assert.deepEqual(errorOf(await join()), [403, 'sso_not_a_member'])
})

test('DOM-09 when a domain changes hands, its users are led to the new provider only', async () => {
  const { world, send } = enterprise
  const [former, buyer] = [
    await enterprise.organization(await world.person(), 'Former'),
    await enterprise.organization(await world.person(), 'Buyer'),
  ]
  const discover = async () => {
    const payload = { email: 'ann@sold.example' }
    const answer = await world.api.inject({ method: 'POST', url: '/api/sso/discover', payload })
    return answer.json().loginUrl
  }
  const loginUrlOf = (connectionId: string) => `${world.config.baseUrl.origin}/api/sso/${connectionId}/start`
  await enterprise.verifyDomain(former, 'sold.example')
  const { connectionId: old } = await enterprise.connect(former, { domains: ['sold.example'] })
  assert.equal(await discover(), loginUrlOf(old))

  const person = await world.person()
  const browser = enterprise.browser()
  browser.bring(person)
  const arrived = await browser.signIn(old, newClaims({ email: 'ann@sold.example' }))
  await enterprise.verifyDomain(buyer, 'sold.example')
  assert.deepEqual(errorOf(await linkAs(browser, flowOf(arrived), person.identityId)), [403, 'sso_not_a_member'])
  const { connectionId: bought } = await enterprise.connect(buyer, { domains: ['sold.example'] })
  assert.equal(await discover(), loginUrlOf(bought))
  const path = `/${former.organizationId}/sso-connections`
  const { issuer, clientId, clientSecret } = enterprise.upstream
  const again = await send({ headers: await former.owner.signIn() }, 'POST', path, {
    name: 'Again',
    domains: ['sold.example'],
    oidc: { issuer, clientId, clientSecret },
  })
  assert.deepEqual(errorOf(again), [409, 'domain_not_verified'])
})
