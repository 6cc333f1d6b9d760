import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '#platform/config/config.ts'
import { announce } from '#banner.ts'

const hosted = {
  BASE_URL: 'https://api.id.example.com',
  AUTH_URL: 'https://id.example.com',
  BUSINESS_URL: 'https://business.id.example.com',
  ALLOW_EMBEDDED: '1',
  TRUST_PROXY: 'off',
}

test('at a terminal, the start lists all URLs and the first one to open', () => {
  const said = announce(loadConfig({}), { storage: 'embedded', setup: undefined }, true)
  assert.match(said, /Start here +http:\/\/localhost:4401\/playground\n/)
  for (const port of [4400, 4401, 4402]) assert.ok(said.includes(`http://localhost:${port}`))
})

test('OUT-06 under public URLs, or without a terminal, the start is one line of JSON', () => {
  for (const [environment, isTerminal] of [
    [hosted, true],
    [hosted, false],
    [{}, false],
  ] as const) {
    const said = announce(loadConfig(environment), { storage: 'embedded', setup: undefined }, isTerminal)
    assert.match(said, /^[^\n]+\n$/)
    assert.match(JSON.parse(said).msg, / is ready\.$/)
  }
})

test('the page to open first lets its reader in', () => {
  const firstOf = (environment: Record<string, string>) =>
    JSON.parse(announce(loadConfig({ ...hosted, ...environment }), { storage: 'embedded', setup: undefined }, false))
      .openFirst
  assert.equal(firstOf({ REGISTRATION: 'open' }), 'https://id.example.com/register')
  const domains = { REGISTRATION: 'domains', REGISTRATION_DOMAINS: 'acme.example' }
  const mail = { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'id@example.com' }
  assert.equal(firstOf({ ...domains, ...mail }), 'https://id.example.com/register')
  assert.equal(firstOf({ REGISTRATION: 'closed' }), 'https://id.example.com/login')
  assert.equal(firstOf({}), 'https://id.example.com/login')
})

test('REG-06 only a terminal shows the setup link, a log only names its file', () => {
  const setup = { url: 'http://localhost:4401/setup#cs_setup_secret', path: '/data/setup-link' }
  const started = { storage: 'embedded', setup } as const
  assert.ok(announce(loadConfig({}), started, true).includes(setup.url))
  for (const environment of [{}, hosted, { LOG_FORMAT: 'text' }]) {
    const said = announce(loadConfig(environment), started, false)
    assert.ok(said.includes('/data/setup-link') && !said.includes('cs_setup_'), said)
  }
})
