import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Setting, Settings } from '@countersign/protocol/operations/settings'
import { changesOf, domainsFaultOf, faultsOf, isRetentionFaulty, stillOpen } from '../draft.ts'

const unset: Setting = { value: null, default: null, source: 'default', editable: true }
const stored = (value: string): Setting => ({ ...unset, value, source: 'database' })

function settingsWith(settings: Settings['settings']): Settings {
  const name: Setting = { ...unset, value: 'Countersign', default: 'Countersign' }
  return { revision: 1, settings: { 'branding.name': name, 'legal.terms': unset, 'legal.privacy': unset, ...settings } }
}

test('only what differs is changed: a URL in another form does not, an empty text restores the default', () => {
  const before = settingsWith({
    'legal.terms': stored('https://example.org/'),
    'legal.privacy': stored('https://a.example/'),
  })
  const draft = { 'branding.name': ' ', 'legal.terms': ' HTTPS://Example.org ', 'legal.privacy': '' }
  assert.deepEqual(changesOf(draft, before), { 'legal.privacy': null })
  assert.deepEqual(changesOf({ 'branding.name': ' Example ID ' }, before), { 'branding.name': 'Example ID' })
})

test('after another operator was faster, only what they did not change stays in the form', () => {
  const draft = {
    'registration.mode': 'closed',
    'branding.name': 'Mine',
    'legal.terms': 'https://mine.example/',
  } as const
  const after = settingsWith({ 'branding.name': stored('Theirs') })
  assert.deepEqual(stillOpen(draft, settingsWith({}), after), {
    'registration.mode': 'closed',
    'legal.terms': 'https://mine.example/',
  })
})

test('a number of days is sent as a number, an empty text as the default, and one out of bounds is found', () => {
  const retention: Setting = { value: 365, default: 730, source: 'database', editable: true }
  const before = settingsWith({ 'audit.retentionDays': retention })
  const changes = (days: string) => changesOf({ 'audit.retentionDays': days }, before)
  assert.deepEqual(
    [changes('365'), changes('90'), changes('')],
    [{}, { 'audit.retentionDays': 90 }, { 'audit.retentionDays': null }],
  )
  const written = ['29', '30', ' 3650 ', '3,650', '3.650', '٣٬٦٥٠', '٣٦٥', '3651', '', '40 days', '1e3', '30.5', '1,23']
  assert.deepEqual(written.filter(isRetentionFaulty), ['29', '3651', '40 days', '1e3', '30.5', '1,23'])
  assert.deepEqual(changes('٣٬٦٥٠'), { 'audit.retentionDays': 3650 })
  const unset = settingsWith({ 'audit.retentionDays': { ...retention, value: 730, source: 'default' } })
  const changesSome = (days: string) => Object.keys(changesOf({ 'audit.retentionDays': days }, unset)).length > 0
  assert.deepEqual(['', '730', '12 days', '12'].filter(changesSome), ['12 days', '12'])
})

test('a color is compared and sent in lower case, and found if it is none', () => {
  const before = settingsWith({ 'branding.accent': stored('#1a7f37') })
  assert.deepEqual(changesOf({ 'branding.accent': ' #1A7F37' }, before), {})
  assert.deepEqual(changesOf({ 'branding.accent': '#C0FFEE' }, before), { 'branding.accent': '#c0ffee' })
  assert.deepEqual(changesOf({ 'branding.accent': '' }, before), { 'branding.accent': null })
  assert.deepEqual([...faultsOf({ 'branding.accent': 'blue' })], ['branding.accent'])
})

test('links that the service would refuse are found before they are sent', () => {
  const faulty = {
    'branding.name': 'x'.repeat(41),
    'legal.terms': 'http://example.org',
    'legal.privacy': 'https://user:secret@example.org',
    'legal.imprint': 'mailto:ada@example.org',
  }
  assert.deepEqual([...faultsOf({ ...faulty, 'legal.support': 'mailto:ada@example.org' })], Object.keys(faulty))
  assert.equal(faultsOf({ 'branding.name': '', 'legal.support': '' }).size, 0)
})

test('domains are sent in the form in which they are stored, and only if the list differs', () => {
  const list: Setting = { value: ['*.b.example', 'a.example'], default: [], source: 'database', editable: true }
  const before = settingsWith({ 'registration.domains': list })
  const changes = (text: string) => changesOf({ 'registration.domains': text }, before)['registration.domains']
  assert.equal(changes(' A.example,\n\n*.B.example. a.example'), undefined)
  assert.deepEqual(changes('a.example\nB\u00FCcher.example'), ['a.example', 'xn--bcher-kva.example'])
  assert.equal(changes(' \n'), null)
})

test('a list of domains that the service would refuse is found, with what is wrong in it', () => {
  assert.deepEqual(domainsFaultOf('a.example\nhttps://b.example'), { kind: 'invalid', text: 'https://b.example' })
  assert.deepEqual(domainsFaultOf(' , '), { kind: 'none' })
  const many = Array.from({ length: 101 }, (_, index) => `d${index}.example`).join('\n')
  assert.deepEqual(domainsFaultOf(many), { kind: 'too many' })
  assert.equal(domainsFaultOf('a.example *.b.example'), undefined)
})
