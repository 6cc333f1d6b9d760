import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recheckDomains } from '#organizations/domain-check.ts'
import { errorOf, flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'

const day = 24 * 3600
let enterprise: Enterprise
before(async () => {
  enterprise = await openEnterprise()
})
after(() => enterprise.close())

test('DOM-06 seven days after its record is found gone, nobody joins by an address at a domain', async () => {
  const { world, dns } = enterprise
  const acme = await enterprise.organization(await world.person())
  const { challenge } = await enterprise.verifyDomain(acme, 'acme.example')
  const { connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] })
  /** Somebody new comes by the provider, and connects their passkey. */
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
  assert.equal((await join()).statusCode, 200, 'it may be a slip')
  await passAndCheck(7 * day - 1)
  assert.equal((await join()).statusCode, 200)
  await passAndCheck(1)
  assert.deepEqual(errorOf(await join()), [403, 'sso_not_a_member'])
})
