import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actPageUrl, noteDeparture, parseActPlace, returnAddress, takeReturnedAct } from '../returning.ts'
import { organizationId, shown } from './act-samples.ts'

const { actId, identityId } = shown
const place = { organizationId, actId, identityId }
const business = 'https://business.example'

test('the signing page gets the act and the way back in its address', () => {
  const url = new URL(actPageUrl('https://auth.example', place, `/organizations/${organizationId}/members`))
  assert.equal(url.pathname, '/act')
  assert.deepEqual(parseActPlace(url.search), place)
  const back = `${business}/organizations/${organizationId}/members#act=${actId}&done`
  assert.equal(returnAddress(business, url.search, actId, 'done'), back)
  for (const search of ['', '?act_id=1', `?organization_id=${organizationId}&act_id=${actId}&identity_id=../x`])
    assert.equal(parseActPlace(search), undefined)
})

test('ACT-75 the way back leads to a page of organizations of this service only', () => {
  const hostile = [
    ...['https://evil.example', '//evil.example', '/\\evil.example', '.evil.example', '@evil.example', ':80/', ''],
    ...['/organizations.evil.example', '/organizations//evil.example', '/organizations/../sso', '/invitations/x'],
    ...['/organizations/a/b/c', '/organizations/a?x=1', '/organizations/a#act=x&done', 'javascript:alert(1)'],
    ...['/organizations/%2e%2e', '/organizations\n', '\t/organizations', '/organizations/a\u2028'],
  ]
  for (const path of hostile) {
    const search = `?${new URLSearchParams({ return_to: path })}`
    assert.equal(returnAddress(business, search, actId, 'done'), `${business}/organizations#act=${actId}&done`, path)
  }
})

/** A tab of the organization pages: its address and its session storage. */
function openTab(hash: string, stored: Record<string, string> = {}) {
  const items = new Map(Object.entries(stored))
  const replaced: string[] = []
  const globals = {
    location: { hash, pathname: '/organizations' },
    history: { replaceState: (_state: unknown, _title: string, url: string) => replaced.push(url) },
    sessionStorage: {
      getItem: (name: string) => items.get(name) ?? null,
      setItem: (name: string, value: string) => items.set(name, value),
      removeItem: (name: string) => items.delete(name),
    },
  }
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  return { items, replaced }
}

test('ACT-76 only the tab that has started an act takes its outcome, once, and removes it from its address', () => {
  const { items, replaced } = openTab(`#act=${actId}&done`)
  noteDeparture({ actId, action: shown.action })
  assert.deepEqual(takeReturnedAct(), { action: shown.action, outcome: 'done' })
  assert.deepEqual(replaced, ['/organizations'])
  assert.equal(items.size, 0)
  assert.equal(takeReturnedAct(), undefined, 'a second time')
})

test('ACT-76 a fragment of another act, or of another form, says nothing', () => {
  const noted = { act: JSON.stringify({ actId, action: shown.action }) }
  const foreign = [
    `#act=${identityId}&done`,
    `#act=${actId}&other`,
    `#act=${actId}`,
    '#act=&done',
    `#act=${actId}&done&x`,
  ]
  for (const hash of foreign) {
    const { items, replaced } = openTab(hash, noted)
    assert.equal(takeReturnedAct(), undefined, hash)
    assert.deepEqual([items.size, replaced.length], [1, 1], hash)
  }
  openTab(`#act=${actId}&done`)
  assert.equal(takeReturnedAct(), undefined, 'a tab that has started nothing')
  for (const act of ['[]', 'null', '{"actId":1}']) {
    openTab(`#act=${actId}&done`, { act })
    assert.equal(takeReturnedAct(), undefined, act)
  }
  const { replaced } = openTab('#delete', noted)
  assert.equal(takeReturnedAct(), undefined)
  assert.deepEqual(replaced, [], 'the fragment of a dialog stays')
})
