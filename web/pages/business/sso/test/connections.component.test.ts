import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { h } from 'preact'
import { pageMember, pageOrganization, renderForOrganization } from '../../../../testing/organization-pages.ts'

const { DirectorySync } = await import('../../directory/DirectorySync.tsx')
const { SsoConnections } = await import('../SsoConnections.tsx')

const ada = pageMember('ada', 'owner')
const organization = pageOrganization(ada)
const connections = ['Okta', 'Entra'].map((name): SsoConnection => {
  const rule = { claim: 'groups', value: 'staff', group: 'org:acme:staff' }
  return {
    ...{ connectionId: `connection-${name}`, name, enabled: true, inUse: true, domains: [], groupRules: [rule] },
    ...{ oidc: { issuer: `https://${name}.example`, clientId: 'client', callbackUrl: 'https://id.example/callback' } },
    ...{ scim: { baseUrl: `https://id.example/${name}`, subjectBy: 'email', tokenCreatedAt: ada.joinedAt } },
    ...{ testedAt: null, confirmedAt: null, createdAt: ada.joinedAt, updatedAt: ada.joinedAt },
  }
})
const nothing = () => {}
const section = {
  organization,
  identities: [],
  returned: undefined,
  goTo: nothing,
  onChanged: nothing,
  onMemberChanged: nothing,
  onLeft: nothing,
}

for (const [name, Section] of Object.entries({ SsoConnections, DirectorySync }))
  test(`no two buttons of several connections have the same name (${name})`, async () => {
    await renderForOrganization(
      () => h(Section, section),
      ({ name: request }) => (request.endsWith('/domains') ? { domains: [] } : { connections, next: {} }),
    )
    const buttons = [...document.querySelectorAll('.entry [data-action]')]
    const names = buttons.map((button) => button.getAttribute('aria-label') ?? button.textContent)
    assert.ok(names.length >= connections.length)
    assert.equal(new Set(names).size, names.length, names.join(', '))
    for (const shown of names) assert.match(shown, /^.+: \u2068(Okta|Entra)\u2069$/)
  })
